package metrics

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// Metrics holds the series. It is safe for concurrent use.
type Metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.HistogramVec
	exchanges *prometheus.CounterVec
	refusals  *prometheus.CounterVec
	inFlight  prometheus.Gauge
	shed      prometheus.Counter
}

// latencies are the bucket bounds of everything that takes time, in seconds.
var latencies = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// New returns metrics.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "causeway_mle_request_seconds", Help: "Time to answer a request, core's included, by route and status.", Buckets: latencies,
		}, []string{"route", "status"}),
		exchanges: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_mle_exchanges_total", Help: "Requests that core answered, by what of them was encrypted: request (an alg, or none) and response.",
		}, []string{"request", "response"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_mle_refusals_total", Help: "Requests that the filter answered itself, by code and reason.",
		}, []string{"code", "reason"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "causeway_mle_requests_in_flight", Help: "Requests that are being handled.",
		}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "causeway_mle_shed_requests_total", Help: "Requests that were refused because too many were being handled.",
		}),
	}
	m.registry.MustRegister(m.requests, m.exchanges, m.refusals, m.inFlight, m.shed)
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

// Request counts a request.
func (m *Metrics) Request(s httpx.Sample) {
	m.requests.WithLabelValues(cmp.Or(s.Route, "none"), strconv.Itoa(s.Status)).Observe(s.Took.Seconds())
}

// Exchange counts what of a request was encrypted, or why it was refused.
func (m *Metrics) Exchange(e shell.Exchange) {
	if e.Code != "" {
		m.refusals.WithLabelValues(e.Code, e.Reason).Inc()
		return
	}
	response := "none"
	if e.Sealed {
		response = "encrypted"
	}
	m.exchanges.WithLabelValues(cmp.Or(string(e.Alg), "none"), response).Inc()
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
		busy.ServeHTTP(w, r)
	})
}
