package rollout

import "github.com/prometheus/client_golang/prometheus"

// Metrics has the metrics of this package.
type Metrics struct {
	certificates *prometheus.CounterVec
	reloads      *prometheus.CounterVec
	refused      prometheus.Gauge
}

// NewMetrics returns metrics; register them.
func NewMetrics() *Metrics {
	return &Metrics{
		certificates: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_edge_certificates_total", Help: "Certificates by result: pushed, live or refused.",
		}, []string{"result"}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_edge_config_reloads_total", Help: "Configurations that were read again, by result: ok or refused.",
		}, []string{"result"}),
		refused: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "causeway_edge_config_refused",
			Help: "1 if the configuration file was rejected and the previous content is in effect.",
		}),
	}
}

func (m *Metrics) certificate(result string) { m.certificates.WithLabelValues(result).Inc() }

// Reloaded counts a reload of the configuration.
func (m *Metrics) Reloaded(err error) {
	if err != nil {
		m.reloads.WithLabelValues("refused").Inc()
		m.refused.Set(1)
		return
	}
	m.reloads.WithLabelValues("ok").Inc()
	m.refused.Set(0)
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	m.certificates.Describe(to)
	m.reloads.Describe(to)
	m.refused.Describe(to)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	m.certificates.Collect(to)
	m.reloads.Collect(to)
	m.refused.Collect(to)
}
