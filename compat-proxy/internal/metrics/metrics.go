package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera"
)

// Metrics holds the series. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	calls    *prometheus.HistogramVec
	reads    *prometheus.CounterVec
	inFlight prometheus.Gauge
	shed     prometheus.Counter
}

// latencies are the bucket bounds of everything that takes time, in seconds.
var latencies = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// New returns metrics.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "causeway_compat_request_seconds", Help: "Time to answer a legacy request, by method and class of outcome.", Buckets: latencies,
		}, []string{"method", "outcome"}),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "causeway_compat_v1_call_seconds", Help: "Time until v1 answered an attempt at a call, by route, status (none: no answer) and which attempt it was.",
			Buckets: latencies,
		}, []string{"route", "status", "attempt"}),
		reads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_compat_credentials_reloads_total", Help: "Attempts to read the credentials file again: ok, or failed, which keeps the last good one.",
		}, []string{"outcome"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "causeway_compat_requests_in_flight", Help: "Legacy requests that are being handled.",
		}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "causeway_compat_shed_requests_total", Help: "Legacy requests that were answered busy because too many were being handled.",
		}),
	}
	m.reads.WithLabelValues("ok")
	m.reads.WithLabelValues("failed")
	m.registry.MustRegister(m.requests, m.calls, m.reads, m.inFlight, m.shed)
	return m
}

// Gatherer is the series.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Handler serves the series, and those of the process, in Prometheus' text form.
func (m *Metrics) Handler() http.Handler {
	process := prometheus.NewRegistry()
	process.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(prometheus.Gatherers{m.registry, process}, promhttp.HandlerOpts{})
}

// Request counts a legacy request.
func (m *Metrics) Request(method, class string, took time.Duration) {
	m.requests.WithLabelValues(method, class).Observe(took.Seconds())
}

// Call counts an attempt at a v1 call.
func (m *Metrics) Call(c command.Call) {
	status := "none"
	if c.Status != 0 {
		status = strconv.Itoa(c.Status)
	}
	m.calls.WithLabelValues(c.Route, status, strconv.Itoa(c.Attempt)).Observe(c.Took.Seconds())
}

// CredentialsRead counts an attempt to read the credentials file again.
func (m *Metrics) CredentialsRead(err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.reads.WithLabelValues(outcome).Inc()
}

// Served returns next with the requests in it counted.
func (m *Metrics) Served(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.inFlight.Inc()
		defer m.inFlight.Dec()
		next.ServeHTTP(w, r)
	})
}

// Shed returns busy, which turns requests away, with these counted.
func (m *Metrics) Shed(busy http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.shed.Inc()
		m.Request(providera.MethodNone, providera.ClassBusy, 0)
		busy.ServeHTTP(w, r)
	})
}
