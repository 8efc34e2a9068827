package httpx_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

const (
	callerTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerSpan  = "00f067aa0ba902b7"
	traceparent = "00-" + callerTrace + "-" + callerSpan + "-01"
)

func recorder() (*telemetry.Tracer, *tracetest.SpanRecorder) {
	r := tracetest.NewSpanRecorder()
	return telemetry.New(trace.NewTracerProvider(trace.WithSpanProcessor(r)).Tracer("test")), r
}

// chain returns the usual order of the middlewares.
func chain(t *telemetry.Tracer, log *slog.Logger, h http.HandlerFunc) http.Handler {
	c := newClock()
	broken := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	return httpx.RequestID(httpx.Trace(t, httpx.LogRequests(log, c, httpx.Recover(broken, log, h))))
}

func attributes(s trace.ReadOnlySpan) map[attribute.Key]string {
	out := map[attribute.Key]string{}
	for _, a := range s.Attributes() {
		out[a.Key] = a.Value.String()
	}
	return out
}

func TestTrace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method   string
		serve    http.HandlerFunc
		wantName string
		want     map[attribute.Key]string
		failed   bool
	}{
		"OK": {http.MethodPost, func(w http.ResponseWriter, r *http.Request) {
			httpx.EventFrom(r.Context()).SetRoute("POST /v1/transactions/{id}/captures")
			httpx.EventFrom(r.Context()).SetOutcome("captured")
			w.WriteHeader(http.StatusCreated)
		}, "POST /v1/transactions/{id}/captures", map[attribute.Key]string{
			"http.request.method": "POST", "http.route": "/v1/transactions/{id}/captures", "http.response.status_code": "201",
			"causeway.outcome": "captured", "error.type": "",
		}, false},
		"Refused": {http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
			httpx.EventFrom(r.Context()).SetOutcome("not_found")
			w.WriteHeader(http.StatusNotFound)
		}, "GET", map[attribute.Key]string{
			"http.response.status_code": "404", "http.route": "",
			"causeway.outcome": "not_found",
		}, false},
		"Panic": {
			http.MethodGet, func(http.ResponseWriter, *http.Request) { panic(planted) }, "GET",
			map[attribute.Key]string{
				"http.response.status_code": "500", "causeway.outcome": "panic", "error.type": "panic",
			},
			true,
		},
		"Unavailable": {
			http.MethodGet, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "GET",
			map[attribute.Key]string{"error.type": "503"},
			true,
		},
		"Aborted": {
			http.MethodGet, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "GET",
			map[attribute.Key]string{
				"error.type": "aborted", "http.response.status_code": "",
			},
			true,
		},
		"StrangeMethod": {"X" + planted, func(http.ResponseWriter, *http.Request) {}, "HTTP", map[attribute.Key]string{
			"http.request.method": "OTHER", "http.response.status_code": "200",
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracer, recorded := recorder()
			var book logbook
			r := httptest.NewRequestWithContext(t.Context(), c.method, "/v1/"+planted+"?card="+planted,
				strings.NewReader(planted))
			r.Header = http.Header{
				"Traceparent": {traceparent}, "Tracestate": {"vendor=" + planted},
				"Baggage": {"card=" + planted}, "User-Agent": {planted},
			}
			func() {
				defer func() { _ = recover() }() // of the aborted one
				call(chain(tracer, book.logger(), c.serve), r)
			}()
			if len(recorded.Ended()) != 1 {
				t.Fatalf("spans: got %d, want 1", len(recorded.Ended()))
			}
			s := recorded.Ended()[0]
			got := attributes(s)
			for key, want := range c.want {
				if got[key] != want {
					t.Errorf("%s: got %q, want %q", key, got[key], want)
				}
			}
			if s.Name() != c.wantName || (s.Status().Code == codes.Error) != c.failed || s.Status().Description != "" {
				t.Errorf("got %q, %v, want %q, failed: %t", s.Name(), s.Status(), c.wantName, c.failed)
			}
			if s.SpanContext().TraceID().String() != callerTrace || s.Parent().SpanID().String() != callerSpan ||
				!s.Parent().IsRemote() {
				t.Errorf("parent: got %v", s.Parent())
			}
			event := one(t, book.events(t, "request"))
			if event["trace_id"] != callerTrace || got["causeway.request_id"] != event["request_id"] {
				t.Errorf("log: got %v with %v", event, got)
			}
		})
	}
}

func TestTraceOffStillNamesTheCallersTrace(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]any{traceparent: callerTrace, "": nil, "00-" + planted: nil} {
		var book logbook
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("Traceparent", sent)
		call(chain(nil, book.logger(), func(http.ResponseWriter, *http.Request) {}), r)
		if got := one(t, book.events(t, "request"))["trace_id"]; got != want {
			t.Errorf("%q: got %v, want %v", sent, got, want)
		}
	}
}

// carried sends a request through Traced from within a request, and returns what arrived.
func carried(t *testing.T, tracer *telemetry.Tracer, header http.Header, status int) (http.Header, http.Header) {
	t.Helper()
	var arrived http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived = r.Header.Clone()
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	next := httpx.Traced(tracer, func(string) string { return "/v1/{id}" }, http.DefaultTransport)
	var sent http.Header
	var book logbook
	h := chain(tracer, book.logger(), func(_ http.ResponseWriter, r *http.Request) {
		out, err := http.NewRequestWithContext(httpx.WithResend(r.Context(), 2), http.MethodGet, server.URL+"/v1/"+planted,
			http.NoBody)
		if err != nil {
			t.Error(err)
			return
		}
		sent = out.Header
		response, err := next.RoundTrip(out)
		if err != nil {
			t.Error(err)
			return
		}
		_ = response.Body.Close() // only the header matters
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.Header = header
	call(h, r)
	return arrived, sent
}

func TestTracedPassesOn(t *testing.T) {
	t.Parallel()
	header := http.Header{"Traceparent": {traceparent}, "Tracestate": {"vendor=1"}, "Baggage": {"card=" + planted}}
	arrived, sent := carried(t, nil, header, http.StatusOK)
	if arrived.Get("traceparent") != traceparent || arrived.Get("tracestate") != "vendor=1" ||
		arrived.Get("baggage") != "" {
		t.Errorf("off: got %v", arrived)
	}
	if len(sent) != 0 {
		t.Errorf("the request itself was changed: %v", sent)
	}
	if arrived, _ := carried(t, nil, http.Header{}, http.StatusOK); arrived.Get("traceparent") != "" {
		t.Errorf("off, and no caller's: got %v", arrived)
	}
	tracer, recorded := recorder()
	arrived, sent = carried(t, tracer, header, http.StatusConflict)
	client := recorded.Ended()[0]
	if want := "00-" + callerTrace + "-" + client.SpanContext().SpanID().String() +
		"-01"; arrived.Get("traceparent") != want {
		t.Errorf("on: got %q, want %q", arrived.Get("traceparent"), want)
	}
	if arrived.Get("tracestate") != "vendor=1" || arrived.Get("baggage") != "" || len(sent) != 0 {
		t.Errorf("on: got %v, and the request has %v", arrived, sent)
	}
	got := attributes(client)
	if client.Name() != "GET /v1/{id}" || got["http.response.status_code"] != "409" ||
		got["http.request.resend_count"] != "2" || got["error.type"] != "409" {
		t.Errorf("span: got %q %v", client.Name(), got)
	}
	if server := recorded.Ended()[1]; client.Parent().SpanID() != server.SpanContext().SpanID() {
		t.Errorf("parent: got %v, want %v", client.Parent().SpanID(), server.SpanContext().SpanID())
	}
}

// failing is a transport that returns an error.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestTracedNamesFailuresByClass(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"timeout": context.DeadlineExceeded, "canceled": context.Canceled, "connection": errors.New(planted),
	} {
		tracer, recorded := recorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/"+planted, nil)
		response, got := httpx.Traced(tracer, func(string) string { return "/" }, failing{err}).RoundTrip(r)
		if response != nil {
			_ = response.Body.Close() // never happens
		}
		s := recorded.Ended()[0]
		if !errors.Is(got, err) || attributes(s)["error.type"] != want || s.Status().Description != "" ||
			len(s.Events()) != 0 {
			t.Errorf("got %v and %v, want %q", got, s.Attributes(), want)
		}
	}
}

// nowhere is a ResponseWriter that allocates nothing.
type nowhere struct{ h http.Header }

func (w nowhere) Header() http.Header          { return w.h }
func (nowhere) Write(b []byte) (int, error)    { return len(b), nil }
func (nowhere) WriteHeader(int)                {}
func quiet() *slog.Logger                      { return slog.New(slog.DiscardHandler) }
func empty(http.ResponseWriter, *http.Request) {}

// TestTraceOffAllocatesNothing is not parallel: AllocsPerRun counts the whole process.
func TestTraceOffAllocatesNothing(t *testing.T) {
	c, log := newClock(), quiet()
	plain := httpx.RequestID(httpx.LogRequests(log, c, http.HandlerFunc(empty)))
	with := httpx.RequestID(httpx.Trace(nil, httpx.LogRequests(log, c, http.HandlerFunc(empty))))
	for name, h := range map[string]http.Header{"none": {}, "a wrong one": {"Traceparent": {planted}}} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header = h
		w := nowhere{http.Header{}}
		want := testing.AllocsPerRun(200, func() { plain.ServeHTTP(w, r) })
		if got := testing.AllocsPerRun(200, func() { with.ServeHTTP(w, r) }); got != want {
			t.Errorf("%s: got %v allocations, want the %v of a request without Trace", name, got, want)
		}
	}
}

func BenchmarkTrace(b *testing.B) {
	c, log := newClock(), quiet()
	inner := httpx.LogRequests(log, c, http.HandlerFunc(empty))
	tracer := telemetry.New(trace.NewTracerProvider().Tracer("bench"))
	for name, h := range map[string]http.Handler{
		"Without": inner, "Off": httpx.Trace(nil, inner), "On": httpx.Trace(tracer, inner),
	} {
		b.Run(name, func(b *testing.B) {
			h := httpx.RequestID(h)
			r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/", nil)
			w := nowhere{http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(w, r)
			}
		})
	}
}
