package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/metrics"
)

func get(t *testing.T, h http.Handler) *httptest.ResponseRecorder {
	t.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
	return rec
}

func TestSet(t *testing.T) {
	t.Parallel()
	s := metrics.New("test")
	made := prometheus.NewCounter(prometheus.CounterOpts{Name: "test_made_total", Help: "Things."})
	s.Register(made)
	made.Inc()
	var during string
	get(t, s.Served(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		during = get(t, s.Handler()).Body.String()
	})))
	s.Shed(admission.ReasonSlow)
	after := get(t, s.Handler()).Body.String()
	for text, lines := range map[string][]string{
		during: {
			"test_requests_in_flight 1", `test_shed_requests_total{reason="overloaded"} 0`, "test_made_total 1",
			"go_goroutines ",
		},
		after: {"test_requests_in_flight 0", `test_shed_requests_total{reason="slow_body"} 1`},
	} {
		for _, line := range lines {
			if !strings.Contains(text, "\n"+line) {
				t.Errorf("%s is not in\n%s", line, text)
			}
		}
	}
	families, err := prometheus.Gatherers{s.Gatherer(), metrics.New("other").Gatherer()}.Gather()
	if err != nil || len(families) != 5 {
		t.Errorf("got %d families, %v, want those of both sets and nothing of the process", len(families), err)
	}
}

func TestLatenciesAreACopy(t *testing.T) {
	t.Parallel()
	metrics.Latencies()[0] = 7
	if got := metrics.Latencies()[0]; got == 7 {
		t.Error("somebody changed the bounds of everybody")
	}
}
