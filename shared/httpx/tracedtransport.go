package httpx

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"

	"github.com/causeway-pay/causeway/shared/telemetry"
)

type resendKey struct{}

// WithResend marks in ctx that the next request repeats an earlier one, for the nth time.
func WithResend(ctx context.Context, n int) context.Context {
	if n == 0 {
		return ctx
	}
	return context.WithValue(ctx, resendKey{}, n)
}

// ResendFrom returns the n of WithResend, 0 for a request that repeats none.
func ResendFrom(ctx context.Context) int {
	n, _ := ctx.Value(resendKey{}).(int)
	return n
}

// Traced returns a transport that sends each request with next, in a span that ends with the
// response's header. The receiver continues the trace. template turns a path into a route without
// ids. With a nil tracer it forwards the trace context of the current request, if there is one.
// Baggage is never sent.
func Traced(t *telemetry.Tracer, template func(path string) string, next http.RoundTripper) http.RoundTripper {
	return &traced{t, template, next}
}

type traced struct {
	tracer   *telemetry.Tracer
	template func(string) string
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *traced) RoundTrip(r *http.Request) (*http.Response, error) {
	var caller telemetry.Remote
	if s := scopeFrom(r.Context()); s != nil {
		caller = s.caller
	}
	if t.tracer == nil {
		if !caller.IsZero() {
			r = r.Clone(r.Context()) // a transport must not change the request
			caller.SetHeaders(r.Header)
		}
		return t.next.RoundTrip(r)
	}
	method, route := knownMethod(r.Method), t.template(r.URL.Path)
	ctx, span := t.tracer.Client(r.Context(), method+" "+route)
	defer span.End()
	r = r.Clone(ctx)
	span.SetHeaders(r.Header)
	caller.SetState(r.Header)
	span.Word(telemetry.Method, method)
	span.Word(telemetry.Route, route)
	if n := ResendFrom(ctx); n > 0 {
		span.Int(telemetry.Resend, n)
	}
	response, err := t.next.RoundTrip(r)
	switch {
	case err != nil:
		span.Fail(sendClass(err))
	default:
		span.Int(telemetry.Status, response.StatusCode)
		if response.StatusCode >= http.StatusBadRequest {
			span.Fail(strconv.Itoa(response.StatusCode))
		}
	}
	return response, err
}

// sendClass names the reason for which a request got no response, without its text, which holds the
// URL.
func sendClass(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	return "connection"
}
