package serve

import "github.com/prometheus/client_golang/prometheus"

// Metrics are what is counted. The nodes in them are those that were let in.
type Metrics struct {
	nodes   *prometheus.GaugeVec
	answers *prometheus.CounterVec
	refused *prometheus.CounterVec
}

// NewMetrics returns metrics; register them.
func NewMetrics() *Metrics {
	return &Metrics{
		nodes: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "causeway_edge_xds_nodes", Help: "Envoys that are connected, and those of them that have acknowledged all they are to have.",
		}, []string{"state"}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_edge_xds_answers_total", Help: "What Envoys said to what they were sent, by node, type and answer: ack or nack.",
		}, []string{"node", "type", "answer"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_edge_xds_refused_streams_total", Help: "Streams that were refused, by reason.",
		}, []string{"reason"}),
	}
}

// Describe is for a registry.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	m.nodes.Describe(to)
	m.answers.Describe(to)
	m.refused.Describe(to)
}

// Collect is for a registry.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	m.nodes.Collect(to)
	m.answers.Collect(to)
	m.refused.Collect(to)
}
