package executor_test

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/telemetry"
	"github.com/causeway-pay/causeway/shared/telemetry/export"
	"github.com/causeway-pay/causeway/shared/telemetry/telemetrytest"
)

// TestRetriesAreInTheTrace: each attempt at a call has a span with its number, and v1 continues
// that span.
func TestRetriesAreInTheTrace(t *testing.T) {
	t.Parallel()
	to := telemetrytest.New(t)
	vars := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": to.URL}
	provider, err := export.Open(t.Context(), export.Config{
		Getenv: func(name string) string { return vars[name] }, Service: "compat-proxy", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	tracer := provider.Tracer("compat-proxy")
	attempts := []response{{status: 503}, {status: 504}, {status: 201, body: transaction("captured")}}
	f := &fakeV1{responses: map[string][]response{create: attempts}}
	var mu sync.Mutex
	var parents []string // span ids that v1 received
	server := goldentest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		parents = append(parents, strings.Split(r.Header.Get("Traceparent")+"---", "-")[2])
		mu.Unlock()
		f.ServeHTTP(w, r)
	}))
	calls := v1client.Config{URL: server.URL, Transport: server.Client().Transport, Backoff: 1, Tracer: tracer}
	x, err := executor.New(executor.Config{V1: calls, DeduplicationSecret: goldentest.Secret()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, request := tracer.Server(t.Context(), "POST /compat/provider-a/xml", telemetry.Remote{})
	if got := x.Execute(ctx, key, charge); got.Outcome != command.Done {
		t.Fatalf("got %+v, want it done", got)
	}
	request.End()
	provider.Close(t.Context())

	var spans, resends, statuses, failures []string
	for _, s := range to.Named(create) {
		if s.TraceID != request.TraceID() || s.Kind != "client" {
			t.Errorf("got %+v, want a call in the trace of the request", s)
		}
		spans, resends = append(spans, s.SpanID), append(resends, s.Attributes["http.request.resend_count"])
		statuses = append(statuses, s.Attributes["http.response.status_code"])
		failures = append(failures, s.Attributes["error.type"])
	}
	for name, pair := range map[string][2][]string{
		"retries": {resends, {"", "1", "2"}}, "statuses": {statuses, {"503", "504", "201"}},
		"failures": {failures, {"503", "504", ""}}, "parents at v1": {parents, spans},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s: got %q, want %q", name, pair[0], pair[1])
		}
	}
}
