package httpx

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/causeway-pay/causeway/shared/telemetry"
)

// Trace begins a span for every request, as the child of its caller's span, and names it by method
// and route. Use it inside RequestID and outside LogRequests, whose event has the span's
// attributes. With a nil tracer it makes no span. It keeps the caller's trace context for the log
// and for the calls of Traced.
func Trace(t *telemetry.Tracer, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := scopeFrom(r.Context())
		if s == nil || s.logged {
			s = &scope{}
			r = withScope(r, s)
		}
		s.caller = telemetry.Parse(r.Header)
		s.traceID = s.caller.TraceID()
		if t == nil {
			next.ServeHTTP(w, r)
			return
		}
		ctx, span := t.Server(r.Context(), spanMethod(r.Method), s.caller)
		s.traceID = span.TraceID()
		returned := false
		defer func() { s.describe(span, r.Method, returned); span.End() }() // also when the handler panics
		next.ServeHTTP(w, r.WithContext(ctx))
		returned = true
	})
}

// describe adds the outcome of the request to its span.
func (s *scope) describe(span telemetry.Span, method string, returned bool) {
	span.Word(telemetry.Method, knownMethod(method))
	span.Word(telemetry.RequestID, s.requestID)
	span.Word(telemetry.Outcome, s.event.outcome)
	if s.event.route != "" {
		span.Name(s.event.route)
		_, path, _ := strings.Cut(s.event.route, " ")
		span.Word(telemetry.Route, path)
	}
	status := s.recorder.status
	if status == 0 && returned {
		status = http.StatusOK
	}
	if status != 0 {
		span.Int(telemetry.Status, status)
	}
	switch {
	case s.event.outcome == OutcomeClientGone: // no fault of the service
	case !returned:
		span.Fail("aborted")
	case status >= http.StatusInternalServerError && s.event.outcome != "":
		span.Fail(s.event.outcome)
	case status >= http.StatusInternalServerError:
		span.Fail(strconv.Itoa(status))
	}
}

// spanMethod returns the name of a request's span until its route is known.
func spanMethod(method string) string {
	if known := knownMethod(method); known != "OTHER" {
		return known
	}
	return "HTTP"
}
