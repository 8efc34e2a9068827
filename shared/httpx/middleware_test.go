package httpx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
)

const planted = "4242424242424242"

// logbook collects JSON log lines; it is safe for concurrent use.
type logbook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logbook) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// events returns the lines with this message.
func (l *logbook) events(t *testing.T, msg string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for line := range strings.Lines(l.String()) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		if event["msg"] == msg {
			found = append(found, event)
		}
	}
	return found
}

func one(t *testing.T, events []map[string]any) map[string]any {
	t.Helper()
	if got, want := len(events), 1; got != want {
		t.Fatalf("events: got %d, want %d", got, want)
	}
	return events[0]
}

func newClock() *clock.Fake { return clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)) }

func call(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	var inside string
	h := httpx.RequestID(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		inside = httpx.RequestIDFrom(r.Context())
	}))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.Header.Set("Request-Id", "req_"+planted)
	got := call(h, r).Header().Get("Request-Id")
	if _, err := id.Parse(id.Request, got); err != nil || got != inside {
		t.Errorf("header %q, context %q: %v", got, inside, err)
	}
	if got := httpx.RequestIDFrom(t.Context()); got != "" {
		t.Errorf("outside a request: got %q, want none", got)
	}
}

func TestLogRequestsWritesOneEvent(t *testing.T) {
	t.Parallel()
	var book logbook
	c := newClock()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := httpx.EventFrom(r.Context())
		e.SetRoute("/v1/transactions/{id}")
		e.SetTenant("mer_1")
		e.SetOutcome("replayed")
		c.Advance(1500 * time.Microsecond)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "hello")
	})
	h := httpx.RequestID(httpx.LogRequests(book.logger(), c, handler))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/transactions/"+planted+"?card="+planted,
		strings.NewReader(planted))
	r.Header.Set("Authorization", "Bearer "+planted)
	w := call(h, r)

	event := one(t, book.events(t, "request"))
	want := map[string]any{
		"level": "INFO", "msg": "request", "method": "POST", "route": "/v1/transactions/{id}", "status": 201.0,
		"tenant":     "mer_1",
		"request_id": w.Header().Get("Request-Id"), "duration_ms": 1.5, "bytes": 5.0, "outcome": "replayed",
		"client_address": "",
	}
	for key, value := range want {
		if event[key] != value {
			t.Errorf("%s: got %v, want %v", key, event[key], value)
		}
	}
	if got, want := len(event), len(want)+1; got != want { // and the time
		t.Errorf("attributes: got %d, want %d: %v", got, want, event)
	}
	if strings.Contains(book.String(), planted) {
		t.Errorf("%s holds what the caller sent", book.String())
	}
}

// writes returns a handler that ignores the request.
func writes(write func(http.ResponseWriter)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { write(w) }
}

// statuses returns a handler that writes these statuses, one after the other.
func statuses(all ...int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, status := range all {
			w.WriteHeader(status)
		}
	}
}

// refuses returns a handler that refuses each request with 503 and an outcome.
func refuses(outcome string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		httpx.EventFrom(r.Context()).SetOutcome(outcome)
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func TestLogRequestsStatusAndLevel(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		method  string
		handler http.HandlerFunc
		status  float64
		level   string
		outcome string
		logged  string
	}{
		"Silent":      {"GET", func(http.ResponseWriter, *http.Request) {}, 200, "INFO", "", "GET"},
		"ImplicitOK":  {"GET", writes(func(w http.ResponseWriter) { _, _ = w.Write(nil) }), 200, "INFO", "", "GET"},
		"Refusal":     {"GET", statuses(404), 404, "INFO", "", "GET"},
		"Failure":     {"GET", statuses(503), 503, "ERROR", "", "GET"},
		"Overloaded":  {"GET", refuses("overloaded"), 503, "WARN", "overloaded", "GET"},
		"Busy":        {"GET", refuses(httpx.OutcomeBusy), 503, "WARN", "busy", "GET"},
		"NoAccount":   {"GET", refuses("acquirer_not_configured"), 503, "WARN", "acquirer_not_configured", "GET"},
		"OtherFault":  {"GET", refuses("response_lost"), 503, "ERROR", "response_lost", "GET"},
		"Announced":   {"GET", statuses(103, 402), 402, "INFO", "", "GET"},
		"FirstCounts": {"GET", statuses(202, 500), 202, "INFO", "", "GET"},
		"Flushed": {
			"GET", writes(func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }),
			200, "INFO", "", "GET",
		},
		"Aborted": {
			"GET", writes(func(http.ResponseWriter) { panic(http.ErrAbortHandler) }),
			0, "ERROR", "aborted", "GET",
		},
		"UnknownMethod": {"X" + planted, func(http.ResponseWriter, *http.Request) {}, 200, "INFO", "", "OTHER"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var book logbook
			h := httpx.LogRequests(book.logger(), newClock(), tt.handler)
			func() {
				defer func() { _ = recover() }()
				call(h, httptest.NewRequestWithContext(t.Context(), tt.method, "/", nil))
			}()
			e := one(t, book.events(t, "request"))
			if e["status"] != tt.status || e["level"] != tt.level || e["outcome"] != tt.outcome || e["method"] != tt.logged {
				t.Errorf("got %v, want %v %v %q %s", e, tt.status, tt.level, tt.outcome, tt.logged)
			}
		})
	}
}

// TestNestedStacks lets a handler call another handler with separate middlewares, in one process
// and one context, in every order.
func TestNestedStacks(t *testing.T) {
	t.Parallel()
	var book logbook
	wrap := func(idOutside bool, next http.Handler) http.Handler {
		if idOutside {
			return httpx.RequestID(httpx.LogRequests(book.logger(), newClock(), next))
		}
		return httpx.LogRequests(book.logger(), newClock(), httpx.RequestID(next))
	}
	for _, outer := range []bool{true, false} {
		for _, inner := range []bool{true, false} {
			var ids [2]string
			in := wrap(inner, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				ids[1] = httpx.RequestIDFrom(r.Context())
				httpx.EventFrom(r.Context()).SetRoute("inner")
			}))
			out := wrap(outer, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				call(in, httptest.NewRequestWithContext(r.Context(), http.MethodGet, "/", nil))
				ids[0] = httpx.RequestIDFrom(r.Context())
				httpx.EventFrom(r.Context()).SetRoute("outer")
			}))
			call(out, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
			events := book.events(t, "request")
			events = events[len(events)-2:]
			if events[0]["route"] != "inner" || events[0]["request_id"] != ids[1] || events[1]["route"] != "outer" ||
				events[1]["request_id"] != ids[0] || ids[0] == ids[1] {
				t.Errorf("%t, %t: got %v, want the ids %v", outer, inner, events, ids)
			}
		}
	}
}

func TestEventIsNilSafe(t *testing.T) {
	t.Parallel()
	e := httpx.EventFrom(t.Context())
	if e != nil {
		t.Errorf("got %v, want nil", e)
	}
	e.SetRoute("a")
	e.SetTenant("b")
	e.SetOutcome("c")
}

func respondToPanic(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "internal", http.StatusInternalServerError)
}

func TestRecoverResponds(t *testing.T) {
	t.Parallel()
	var book logbook
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		deepPanic(planted)
	})
	h := httpx.LogRequests(book.logger(), newClock(), httpx.Recover(respondToPanic, book.logger(), handler))
	w := call(h, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	if w.Code != http.StatusInternalServerError || w.Body.String() != "internal\n" ||
		w.Header().Get("Content-Length") != "" {
		t.Errorf("got %d %q, length %q", w.Code, w.Body, w.Header().Get("Content-Length"))
	}
	panicked := one(t, book.events(t, "panic"))
	if got, want := panicked["type"], "*errors.errorString"; got != want {
		t.Errorf("type: got %v, want %v", got, want)
	}
	stack, _ := panicked["stack"].([]any)
	if len(stack) == 0 || !strings.Contains(stack[0].(string), "deepPanic") {
		t.Errorf("stack: got %v, want deepPanic first", stack)
	}
	event := one(t, book.events(t, "request"))
	if event["outcome"] != "panic" || event["status"] != 500.0 {
		t.Errorf("event: got %v, want the outcome panic", event)
	}
	if strings.Contains(book.String(), planted) {
		t.Errorf("%s shows the panic's value", book.String())
	}
}

func deepPanic(text string) { panic(errors.New(text)) }

func TestRecoverCutsHalfAResponse(t *testing.T) {
	t.Parallel()
	var book logbook
	srv := httptest.NewServer(
		httpx.Recover(respondToPanic, book.logger(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			deepPanic(planted)
		})))
	defer srv.Close()
	resp := mustGet(t, srv.Client(), srv.URL)
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err == nil || string(body) != "half" {
		t.Errorf("got %q, %v, want half and a broken connection", body, err)
	}
}

func TestRecoverPassesAbortOn(t *testing.T) {
	t.Parallel()
	var book logbook
	h := httpx.Recover(respondToPanic, book.logger(),
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer func() {
		if got := recover(); got != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
			t.Errorf("got %v, want %v", got, http.ErrAbortHandler)
		}
		if got := book.String(); got != "" {
			t.Errorf("logged %s, want nothing", got)
		}
	}()
	call(h, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	h := httpx.SecurityHeaders(http.NotFoundHandler())
	got := call(h, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)).Header()
	if got.Get("X-Content-Type-Options") != "nosniff" || got.Get("Cache-Control") != "no-store" {
		t.Errorf("got %v", got)
	}
}

// sink formats log records and discards them. slog.DiscardHandler would not format them.
type sink struct{}

func (sink) Write(b []byte) (int, error) { return len(b), nil }

func BenchmarkMiddlewares(b *testing.B) {
	c := clock.System()
	log := slog.New(slog.NewJSONHandler(sink{}, nil))
	h := httpx.RequestID(httpx.LogRequests(log, c, httpx.SecurityHeaders(httpx.Recover(respondToPanic, log,
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))))
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/", nil)
	w := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, r)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	var book logbook
	call(chain(nil, book.logger(), func(_ http.ResponseWriter, r *http.Request) {
		httpx.EventFrom(r.Context()).SetWord("kid", "a")
		httpx.EventFrom(r.Context()).SetWord("alg", "b")
	}), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	if got := one(t, book.events(t, "request")); got["kid"] != "a" || got["alg"] != "b" || got["method"] != "GET" {
		t.Errorf("got %v", got)
	}
}
