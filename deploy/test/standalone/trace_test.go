package standalone_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/telemetry/telemetrytest"
)

// startTraced runs the binary with these additional environment variables.
func startTraced(t *testing.T, dir string, vars []string, args ...string) *process {
	t.Helper()
	return startWith(t, vars, dir, args...)
}

// receiver is a webhook endpoint that records the headers.
type receiver struct {
	url string

	mu   sync.Mutex
	sent []http.Header // guarded by mu
}

func startReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sent = append(r.sent, q.Header.Clone())
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *receiver) all() []http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]http.Header(nil), r.sent...)
}

// TestOneLegacySaleIsOneTrace follows a sale from the legacy client's own span to the webhook's
// receiver.
func TestOneLegacySaleIsOneTrace(t *testing.T) {
	t.Parallel()
	const trace, caller = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	to, hook := telemetrytest.New(t), startReceiver(t)
	p := startTraced(t, t.TempDir(), []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + to.URL}, allowPrivate, "--log", "info")
	m := merchantOf(t, p)
	m.hook(t, hook.url)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.HTTP+"/compat/provider-a/xml",
		strings.NewReader(saleXML(p, "5.00")))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"Traceparent": {"00-" + trace + "-" + caller + "-01"},
		"Tracestate":  {"vendor=1"},
		"Baggage":     {"card=1"},
	}
	response, err := m.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close() // the spans show the outcome
	programtest.WaitFor(t, "the webhook has come", func() bool { return len(hook.all()) > 0 })
	p.Stop(t) // the stop sends the last spans

	parents := map[string]string{} // by span id
	names := map[string][]telemetrytest.Span{}
	for _, s := range to.Spans() {
		if s.TraceID == trace {
			parents[s.SpanID] = s.Parent
			names[s.Name] = append(names[s.Name], s)
			if s.State != "" {
				t.Errorf("%s holds the caller's tracestate %q", s.Name, s.State)
			}
		}
	}
	legacy := wantChild(t, names, "POST /compat/provider-a/xml", "server", caller)
	call := wantChild(t, names, "POST /v1/transactions", "client", legacy)
	v1 := wantChild(t, names, "POST /v1/transactions", "server", call)
	wantChild(t, names, "acquirer authorize", "client", v1)
	wantChild(t, names, "store commit", "internal", v1)
	delivery := wantChild(t, names, "webhook delivery", "client", v1)
	if got, want := hook.all()[0].Get("traceparent"), "00-"+trace+"-"+delivery+"-01"; got != want {
		t.Errorf("the receiver was sent %q, want %q", got, want)
	}
	if h := hook.all()[0]; h.Get("baggage") != "" || h.Get("tracestate") != "" {
		t.Errorf("the receiver was sent %v", h)
	}
	if got := strings.Count(p.Log.String(), `"trace_id":"`+trace+`"`); got < 2 { // the proxy's request, and v1's
		t.Errorf("log events that name the trace: got %d, want 2 or more", got)
	}
}

// wantChild checks that a span of that kind exists under parent, and returns its id.
func wantChild(t *testing.T, names map[string][]telemetrytest.Span, name, kind, parent string) string {
	t.Helper()
	for _, s := range names[name] {
		if s.Kind == kind && s.Parent == parent {
			return s.SpanID
		}
	}
	t.Errorf("there is no %s span %q under %s among %+v", kind, name, parent, names)
	return "none"
}

// TestTracesOffPassOn checks that without an exporter both programs' log events still have the
// caller's trace.
func TestTracesOffPassOn(t *testing.T) {
	t.Parallel()
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	p := startTraced(t, t.TempDir(), nil, "--log", "info")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.HTTP+"/compat/provider-a/xml",
		strings.NewReader(saleXML(p, "5.00")))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	response, err := merchantOf(t, p).http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close() // the log has the result
	named := func(service string) bool {
		for line := range strings.Lines(p.Log.String()) {
			if strings.Contains(line, `"service":"`+service+`"`) && strings.Contains(line, `"trace_id":"`+trace+`"`) {
				return true
			}
		}
		return false
	}
	programtest.WaitFor(t, "both have logged it", func() bool { return named("core") && named("compat-proxy") })
}

// TestADeadCollectorHoldsUpNoPayment checks a collector that accepts connections and never
// responds.
func TestADeadCollectorHoldsUpNoPayment(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	p := startTraced(t, t.TempDir(), []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + silent.Addr().String(), "OTEL_BSP_MAX_QUEUE_SIZE=16",
		"OTEL_BSP_SCHEDULE_DELAY=1",
	})
	m := merchantOf(t, p)
	for range 100 { // many times the length of the queue
		if got := m.must(t, http.MethodPost, "/v1/transactions", "",
			`{"amount":100,"currency":"usd","payment_method":"card"}`); got.status != http.StatusCreated {
			t.Fatalf("payment: %d %s", got.status, got.body)
		}
	}
	begin := time.Now() //nolint:forbidigo // how long a real process takes to stop
	p.Stop(t)
	if took := time.Since(begin); took > patience/2 {
		t.Errorf("the stop took %v", took)
	}
}

// TestWrongTraceVariables checks that a setting without a valid target stops the start, with exit
// code 1 and the variable's name.
func TestWrongTraceVariables(t *testing.T) {
	t.Parallel()
	p := launchWith(t, []string{"OTEL_TRACES_EXPORTER=hunter2"}, "--json", "--data", t.TempDir(), "--listen",
		"127.0.0.1:0", "--listen-tls", "127.0.0.1:0")
	if err := p.Err(); programtest.ExitCode(err) != 1 {
		t.Errorf("got %v, want exit code 1", err)
	}
	if said := p.Log.String(); !strings.Contains(said, "OTEL_TRACES_EXPORTER") || strings.Contains(said, "hunter2") {
		t.Errorf("the log has %q", said)
	}
}
