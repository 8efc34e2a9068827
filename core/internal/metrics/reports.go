package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/shared/clock"
)

// reports are the series of the settlement reports by account.
type reports struct {
	clock  clock.Clock
	last   *prometheus.GaugeVec
	failed *prometheus.CounterVec
	begun  *sync.Map // the accounts that have a series of last
}

func newReports(c clock.Clock) reports {
	r := reports{
		clock: c, begun: &sync.Map{},
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "causeway_account_reports_last_success_timestamp_seconds",
			Help: "The last complete settlement reports of an account; before these, the first attempt of this core.",
		}, []string{"account"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_account_reports_failures_total",
			Help: "Attempts to read the settlement reports of an account that failed. They are retried.",
		}, []string{"account"}),
	}
	r.failed.WithLabelValues(otherAccounts)
	return r
}

func (r *reports) all() []prometheus.Collector { return []prometheus.Collector{r.last, r.failed} }

// AccountReported implements engine.Observer. An account without series of its id only counts
// failures: another one that makes reports would hide it.
func (m *Metrics) AccountReported(account string, complete bool) {
	id, named := m.named.label(account)
	failed := m.reports.failed.WithLabelValues(id)
	if !complete {
		failed.Inc()
	}
	_, begun := m.begun.LoadOrStore(account, true)
	if named && (complete || !begun) {
		m.reports.last.WithLabelValues(id).Set(seconds(m.reports.clock.Now()))
	}
}
