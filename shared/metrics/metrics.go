package metrics

import (
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/causeway-pay/causeway/shared/admission"
)

// Latencies returns the bucket bounds of all that takes time, in seconds.
func Latencies() []float64 { return slices.Clone(latencies) }

var latencies = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// Set is the series of one program. It is safe for concurrent use.
type Set struct {
	registry *prometheus.Registry
	inFlight prometheus.Gauge
	shed     *prometheus.CounterVec
}

// New returns a set that counts requests by the names prefix_requests_in_flight and
// prefix_shed_requests_total. One process may show several sets, of different prefixes.
func New(prefix string) *Set {
	s := &Set{
		registry: prometheus.NewRegistry(),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: prefix + "_requests_in_flight", Help: "Requests that are being handled.",
		}),
		shed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: prefix + "_shed_requests_total",
			Help: "Requests that were turned away, by reason: overloaded (too many are being handled or received), " +
				"too_many_requests or unfinished_bodies (too many of one client), or slow_body.",
		}, []string{"reason"}),
	}
	for _, reason := range admission.Reasons() {
		s.shed.WithLabelValues(reason) // so that it is 0 before the first
	}
	s.Register(s.inFlight, s.shed)
	return s
}

// Register adds series. It panics if one is registered already.
func (s *Set) Register(more ...prometheus.Collector) { s.registry.MustRegister(more...) }

// Gatherer returns the series, without the series of the process.
func (s *Set) Gatherer() prometheus.Gatherer { return s.registry }

// Handler serves the series, with the series of the process, in Prometheus' text form.
func (s *Set) Handler() http.Handler {
	process := prometheus.NewRegistry()
	process.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(prometheus.Gatherers{s.registry, process}, promhttp.HandlerOpts{})
}

// Served returns next with the requests in it counted.
func (s *Set) Served(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.inFlight.Inc()
		defer s.inFlight.Dec()
		next.ServeHTTP(w, r)
	})
}

// Shed counts a request that was turned away, for admission.Config.
func (s *Set) Shed(reason string) { s.shed.WithLabelValues(reason).Inc() }
