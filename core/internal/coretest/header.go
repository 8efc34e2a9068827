package coretest

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// transport are the header fields that any HTTP server may set. The contract must declare all
// others.
var transport = []string{
	"Cache-Control", "Connection", "Content-Length", "Content-Security-Policy", "Content-Type", "Date", "Strict-Transport-Security", "X-Content-Type-Options",
}

// checkHeaders checks the header of a response: the declared fields, and the fields that the
// contract's texts require for its status.
func checkHeaders(r *http.Request, resp *http.Response, declared openapi3.Headers) error {
	for name, values := range resp.Header {
		if slices.Contains(transport, name) {
			continue
		}
		if !isDeclared(declared, name) {
			return fmt.Errorf("the header %s is not declared", name)
		}
		if len(values) != 1 {
			return fmt.Errorf("the header %s occurs %d times", name, len(values))
		}
	}
	h := resp.Header
	for _, rule := range []struct {
		name string
		must bool
	}{
		{"Allow", resp.StatusCode == http.StatusMethodNotAllowed},
		{"WWW-Authenticate", resp.StatusCode == http.StatusUnauthorized},
	} {
		if got := h.Get(rule.name) != ""; got != rule.must {
			return fmt.Errorf("the header %s on a %d: got %t, want %t", rule.name, resp.StatusCode, got, rule.must)
		}
	}
	switch {
	case resp.StatusCode == http.StatusTooManyRequests && h.Get("Retry-After") == "": // RateLimit is only there if a limit is set
		return fmt.Errorf("a 429 without Retry-After: %v", h)
	case h.Get("Retry-After") != "" && !slices.Contains([]int{409, 429, 503, 504}, resp.StatusCode):
		return fmt.Errorf("retry-after on a %d", resp.StatusCode)
	case (h.Get("RateLimit") == "") != (h.Get("RateLimit-Policy") == ""):
		return fmt.Errorf("one of RateLimit and RateLimit-Policy: %v", h)
	case h.Get("Idempotent-Replayed") != "" && r.Header.Get("Idempotency-Key") == "":
		return fmt.Errorf("replayed for a request without an Idempotency-Key")
	}
	return nil
}

// isDeclared finds a header by its canonical name, because Go writes WWW-Authenticate differently.
func isDeclared(declared openapi3.Headers, name string) bool {
	for d := range declared {
		if http.CanonicalHeaderKey(d) == name {
			return true
		}
	}
	return false
}

// headersOf returns the declared fields of an operation's response with a status.
func headersOf(op *openapi3.Operation, status int) openapi3.Headers {
	r := op.Responses.Status(status)
	if r == nil {
		r = op.Responses.Default()
	}
	if r == nil || r.Value == nil {
		return nil
	}
	return r.Value.Headers
}
