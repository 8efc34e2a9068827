package engine_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/metrics"
)

// scraped connects the engine to new metrics, and returns a function that reads them.
func scraped(s *coretest.Service) func() string {
	m := metrics.New(metrics.Config{
		Waiting: s.DB.Waiting, LogSize: func() int64 { return 0 }, Pending: s.DB.PendingDeliveries, Clock: s.Clock,
		Leads: s.Engine.Cluster.Leads,
	})
	s.Engine.Observer = m
	return func() string {
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/metrics", nil))
		return w.Body.String()
	}
}

// wantLines checks that each line is among the series.
func wantLines(t *testing.T, series string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(series, "\ncauseway_recovery_"+line+"\n") {
			t.Errorf("%s is not among\n%s", line, series)
		}
	}
}

// TestRecoveryIsCounted: the metrics count attempts at each kind of step, while its acquirer does
// not respond and after.
func TestRecoveryIsCounted(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			series := scraped(s)
			r := serving(t, s)
			st.mustLoseOutcome(t, s, true)
			kind := `{step="` + string(st.verb) + `"} `
			s.Clock.Advance(7 * time.Second)
			s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnknown } // the inquiry too
			pass(t, r, 1)
			wantLines(t, series(), "taken_up_total"+kind+"1", "finished_total"+kind+"0", "open_steps"+kind+"1", "oldest_open_seconds 7")
			heal(s)
			s.Clock.Advance(time.Minute)
			pass(t, r, 1)
			wantLines(t, series(), "taken_up_total"+kind+"2", "finished_total"+kind+"1", "oldest_open_seconds 67")
			pass(t, r, 0)
			wantLines(t, series(), "taken_up_total"+kind+"2", "open_steps"+kind+"0", "oldest_open_seconds 0")
		})
	}
}

// lags records the lags that settlement reports.
type lags struct {
	*metrics.Metrics

	mu   sync.Mutex
	seen []time.Duration // guarded by mu
}

func (l *lags) SettlementBegun(lag time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, lag)
}

// TestSettlementLag: the lag counts from the end of the oldest day of which a capture is not
// settled, however many passes were missed.
func TestSettlementLag(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t) // 09:30 UTC
	l := &lags{Metrics: metrics.New(metrics.Config{
		Waiting: s.DB.Waiting, LogSize: func() int64 { return 0 }, Pending: s.DB.PendingDeliveries, Clock: s.Clock,
		Leads: s.Engine.Cluster.Leads,
	})}
	s.Engine.Observer = l
	mustPay(t, s, true)
	for _, away := range []time.Duration{0, time.Hour, 72 * time.Hour, 0} {
		s.Clock.Advance(away)
		if _, err := s.Engine.SettleDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []time.Duration{0, 0, 58*time.Hour + 30*time.Minute, 0} {
		if got := l.seen[i]; got != want {
			t.Errorf("pass %d: got %s, want %s", i, got, want)
		}
	}
}
