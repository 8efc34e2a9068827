package metrics

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

const (
	// mostAccounts is how many accounts have series of their ids. All others share the series of
	// otherAccounts.
	mostAccounts  = 500
	otherAccounts = "other"
)

// accounts are the series of the calls by account.
type accounts struct {
	named   *named
	calls   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

// named are the accounts that have series of their ids.
type named struct {
	mu   sync.Mutex
	seen map[string]bool // guarded by mu
}

// label returns the value of the label account for an account, and whether it is its id.
func (n *named) label(id string) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.seen[id] && len(n.seen) >= mostAccounts {
		return otherAccounts, false
	}
	n.seen[id] = true
	return id, true
}

func newAccounts() accounts {
	a := accounts{
		named: &named{seen: map[string]bool{}},
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_account_calls_total",
			Help: "Requests to an acquirer account of live mode, by account, kind, operation and outcome.",
		}, []string{"account", "kind", "operation", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "causeway_account_seconds",
			Help:    "Duration of a request to an acquirer account, except for reports, by account and kind.",
			Buckets: latencies,
		}, []string{"account", "kind"}),
	}
	a.seconds.WithLabelValues(otherAccounts, otherAccounts)
	for _, operation := range acquirer.Operations() {
		for _, outcome := range acquirer.Outcomes() {
			a.calls.WithLabelValues(otherAccounts, otherAccounts, operation, outcome)
		}
	}
	for _, outcome := range acquirer.ReportOutcomes() {
		a.calls.WithLabelValues(otherAccounts, otherAccounts, acquirer.ReportOperation, outcome)
	}
	return a
}

func (a *accounts) all() []prometheus.Collector { return []prometheus.Collector{a.calls, a.seconds} }

// AccountCalled counts a call of an account, as a call of an acquirer and by its account.
func (m *Metrics) AccountCalled(c account.Call) {
	m.acquirerCalled(c.Operation, c.Outcome, c.Took)
	id, ok := m.named.label(c.Account)
	kind := c.Kind
	if !ok {
		kind = otherAccounts
	}
	for _, outcome := range [...]string{"unavailable", "unknown"} { // no increase without a 0 before the first burst
		m.accounts.calls.WithLabelValues(id, kind, c.Operation, outcome)
	}
	m.accounts.calls.WithLabelValues(id, kind, c.Operation, c.Outcome).Inc()
	if c.Operation != acquirer.ReportOperation { // a page of reports takes long, and no payer waits for it
		m.accounts.seconds.WithLabelValues(id, kind).Observe(c.Took.Seconds())
	}
}

var unfinishedSteps = prometheus.NewDesc("causeway_account_unfinished_steps",
	"Steps and pending reversals without an outcome for a minute, by account. All cores count them.",
	[]string{"account"}, nil)

// unfinished reads the numbers of unfinished steps at a scrape. While they cannot be read, the
// series are missing.
type unfinished struct{ Config }

// Describe implements prometheus.Collector.
func (unfinished) Describe(out chan<- *prometheus.Desc) { out <- unfinishedSteps }

// Collect implements prometheus.Collector.
func (u unfinished) Collect(out chan<- prometheus.Metric) {
	var steps map[string]int64
	if u.Unfinished != nil {
		ctx, cancel := context.WithTimeout(context.Background(), pendingPatience)
		defer cancel()
		var err error
		if steps, err = u.Unfinished(ctx); err != nil {
			return
		}
	}
	others := int64(0)
	for n, id := range slices.Sorted(maps.Keys(steps)) {
		if n < mostAccounts {
			out <- prometheus.MustNewConstMetric(unfinishedSteps, prometheus.GaugeValue, float64(steps[id]), id)
			continue
		}
		others += steps[id]
	}
	out <- prometheus.MustNewConstMetric(unfinishedSteps, prometheus.GaugeValue, float64(others), otherAccounts)
}
