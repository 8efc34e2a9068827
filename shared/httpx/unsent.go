package httpx

// UnsentHeader is a field of the 503 that mle-filter sends if it has sent no part of the request to
// core. Its value does not matter. The filter removes it from core's own responses. A 503 without
// it proves nothing about core.
const UnsentHeader = "X-Svc-Int-Unsent"
