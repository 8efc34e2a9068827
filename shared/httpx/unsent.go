package httpx

// UnsentHeader is on the 503 that mle-filter sends if it sent core no part of the request. Its
// value does not matter. The filter removes it from core's own responses. A 503 without it proves
// nothing about core.
const UnsentHeader = "X-Svc-Int-Unsent"
