package acme

import "github.com/prometheus/client_golang/prometheus"

// counts has the counters of attempts.
type counts struct {
	attempts *prometheus.CounterVec
}

func newCounts() counts {
	c := counts{attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "causeway_edge_acme_attempts_total",
		Help: "Orders of a certificate at the authority, by result: issued or failed.",
	}, []string{"outcome"})}
	c.attempts.WithLabelValues("issued")
	c.attempts.WithLabelValues("failed")
	return c
}

func (c counts) attempt(outcome string) { c.attempts.WithLabelValues(outcome).Inc() }

var (
	renewalSeries = prometheus.NewDesc("causeway_edge_acme_renewal_timestamp_seconds",
		"When the next renewal of the present certificate is due.", nil, nil)
	failureSeries = prometheus.NewDesc("causeway_edge_acme_failures",
		"Failed orders since the last successful one.", nil, nil)
)

// Describe implements prometheus.Collector.
func (s *Source) Describe(to chan<- *prometheus.Desc) {
	s.counts.attempts.Describe(to)
	to <- renewalSeries
	to <- failureSeries
}

// Collect implements prometheus.Collector.
func (s *Source) Collect(to chan<- prometheus.Metric) {
	s.counts.attempts.Collect(to)
	status := s.Status()
	if !status.Renewal.IsZero() {
		to <- prometheus.MustNewConstMetric(renewalSeries, prometheus.GaugeValue, float64(status.Renewal.Unix()))
	}
	to <- prometheus.MustNewConstMetric(failureSeries, prometheus.GaugeValue, float64(status.Failures))
}
