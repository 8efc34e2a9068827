package metrics

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/telemetry"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Metrics holds the series. It is safe for concurrent use.
type Metrics struct {
	registry   *prometheus.Registry
	requests   *prometheus.HistogramVec
	batchSizes prometheus.Histogram
	commits    prometheus.Histogram
	waits      prometheus.Histogram
	calls      *prometheus.HistogramVec
	refused    *prometheus.CounterVec
	logins     *prometheus.CounterVec

	webhooks
	passes
	recovery
	purges
	accounts
	reports
}

// Config holds the functions that are called when the series are read. All fields but Server are
// required.
type Config struct {
	// Waiting is how many commands wait for the store's writer.
	Waiting func() int
	// LogSize is the size of SQLite's write-ahead log in bytes; 0 for a store on a server.
	LogSize func() int64
	// Pending counts the pending webhook deliveries, and returns the time of the oldest. It is
	// called at every scrape.
	Pending func(context.Context) (n int64, oldest time.Time, err error)
	Clock   clock.Clock
	// Leads reports whether this core is the leader of the cores that share its database.
	Leads func() bool
	// Secrets returns the ages of the secrets that operators rotate, by name. Nil: there are none.
	Secrets func(context.Context) (map[string]time.Duration, error)
	// Unfinished returns the numbers of unfinished steps of live mode by account, acct_…. Nil: there
	// are none.
	Unfinished func(context.Context) (map[string]int64, error)
	// Server has the functions for a store on a server. It is nil for a store in a folder.
	Server *Server
}

// latencies are the bucket bounds of everything that takes time, in seconds.
var latencies = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// commands are the buckets for the commands of a commit.
var commands = prometheus.ExponentialBuckets(1, 2, 9)

// New returns metrics. A counter is exported as 0 before its first event.
func New(c Config) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "causeway_request_seconds", Help: "Duration of a request, by route and status.", Buckets: latencies,
		}, []string{"route", "status"}),
		batchSizes: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "causeway_store_group_commands", Help: "Number of commands in one group commit.", Buckets: commands,
		}),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "causeway_store_group_seconds", Help: "Duration of a group commit.", Buckets: latencies,
		}),
		waits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "causeway_store_wait_seconds", Help: "Time for which the first command of a group commit waited.",
			Buckets: latencies,
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_refused_requests_total",
			Help: "Requests refused: over a rate limit or the bound of concurrent requests, with a slow body, " +
				"of a merchant without an account, without the filter's secret or with a wrong one, " +
				"or because the store takes no writes.",
		}, []string{"reason"}),
		logins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_operator_logins_total",
			Help: "Logins at the operator's API, by result: accepted, refused, or limited after too many failures.",
		}, []string{"result"}),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "causeway_acquirer_seconds", Help: "Duration of a request to the acquirer, by operation and outcome.",
			Buckets: latencies,
		}, []string{"operation", "outcome"}),
		webhooks: newWebhooks(), passes: newPasses(c.Clock), recovery: newRecovery(c.Clock), purges: newPurges(c.Clock),
	}
	m.accounts, m.reports = newAccounts(), newReports(c.Clock)
	m.startAtZero()
	m.registry.MustRegister(m.refused, m.logins, m.requests, m.batchSizes, m.commits, m.waits, m.calls,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "causeway_store_waiting_commands", Help: "Commands that wait for the store's writer.",
		}, func() float64 { return float64(c.Waiting()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "causeway_core_leads",
			Help: "1 for the leader, which does the background work of all cores on a store; " +
				"always 1 for a core with a store in a folder.",
		}, func() float64 { return map[bool]float64{true: 1}[c.Leads()] }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(pending{c}, secrets{c}, unfinished{c}, logSize(c))
	if c.Server != nil {
		m.registry.MustRegister(&onServer{Server: *c.Server, clock: c.Clock})
	}
	m.registerParts()
	return m
}

func (m *Metrics) registerParts() {
	for _, part := range [][]prometheus.Collector{
		m.webhooks.all(), m.passes.all(), m.recovery.all(), m.purges.all(), m.accounts.all(), m.reports.all(),
	} {
		m.registry.MustRegister(part...)
	}
}

// startAtZero makes the series of counters whose values are known, so that each is 0 before the
// first event.
func (m *Metrics) startAtZero() {
	for _, reason := range refusals {
		m.refused.WithLabelValues(reason)
	}
	for _, result := range []string{"accepted", "refused", "limited"} {
		m.logins.WithLabelValues(result)
	}
}

// logSize returns the series of the store's write-ahead log.
func logSize(c Config) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "causeway_store_log_bytes", Help: "Size of SQLite's write-ahead log; 0 for a store on a server.",
	}, func() float64 { return float64(c.LogSize()) })
}

// Handler serves the series in Prometheus' text form, together with the series of others, which
// must have other names.
func (m *Metrics) Handler(others ...prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(append(prometheus.Gatherers{m.registry}, others...), promhttp.HandlerOpts{})
}

// refusals are the outcomes of requests that were turned away unserved.
var refusals = []string{
	"rate_limited", "overloaded", "too_many_requests", "too_many_unfinished_bodies", "body_too_slow",
	v1.CodeAcquirerNotConfigured, "store_unavailable", "filter_secret_missing", "filter_secret_wrong",
}

// Request counts a request.
func (m *Metrics) Request(s httpx.Sample) {
	route := s.Route
	if route == "" {
		route = "none"
	}
	if slices.Contains(refusals, s.Outcome) {
		m.refused.WithLabelValues(s.Outcome).Inc()
	}
	m.requests.WithLabelValues(route, strconv.Itoa(s.Status)).Observe(s.Took.Seconds())
}

// OperatorLogin counts a login at the operator's API.
func (m *Metrics) OperatorLogin(result string) { m.logins.WithLabelValues(result).Inc() }

// Batch counts a group commit.
func (m *Metrics) Batch(b store.Batch) {
	m.batchSizes.Observe(float64(b.Commands))
	m.commits.Observe(b.Took.Seconds())
	m.waits.Observe(b.Waited.Seconds())
}

// Acquirer returns a, measured and traced. The tracer may be nil.
func (m *Metrics) Acquirer(a acquirer.Acquirer, t *telemetry.Tracer, c clock.Clock) acquirer.Acquirer {
	return acquirer.Observed(a, t, c, func(operation, outcome string, took time.Duration, _ error) {
		m.acquirerCalled(operation, outcome, took)
	})
}

func (m *Metrics) acquirerCalled(operation, outcome string, took time.Duration) {
	m.calls.WithLabelValues(operation, outcome).Observe(took.Seconds())
}
