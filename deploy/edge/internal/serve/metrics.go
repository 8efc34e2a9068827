package serve

import "github.com/prometheus/client_golang/prometheus"

// Metrics has the metrics of this package. Its nodes are the accepted ones.
type Metrics struct {
	nodes     *prometheus.GaugeVec
	responses *prometheus.CounterVec
	refused   *prometheus.CounterVec
}

// NewMetrics returns metrics; register them.
func NewMetrics() *Metrics {
	return &Metrics{
		nodes: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "causeway_edge_xds_nodes",
			Help: "Connected Envoys, and connected Envoys that have acknowledged all of their resources.",
		}, []string{"state"}),
		responses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_edge_xds_acknowledgements_total",
			Help: "Acknowledgements and refusals of deliveries by Envoys, by node, type and result: ack or nack.",
		}, []string{"node", "type", "result"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_edge_xds_refused_streams_total", Help: "Streams that were rejected, by reason.",
		}, []string{"reason"}),
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	m.nodes.Describe(to)
	m.responses.Describe(to)
	m.refused.Describe(to)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	m.nodes.Collect(to)
	m.responses.Collect(to)
	m.refused.Collect(to)
}
