package trust

import "github.com/prometheus/client_golang/prometheus"

var (
	droppedSeries = prometheus.NewDesc("causeway_edge_events_dropped_total",
		"Events for merchants that were dropped because the outbox was full.", nil, nil)
	pendingSeries = prometheus.NewDesc("causeway_edge_events_pending",
		"Events for merchants that core has not accepted yet.", nil, nil)
	oldestSeries = prometheus.NewDesc("causeway_edge_events_oldest_pending_seconds",
		"Age of the oldest event that core has not accepted; 0 if none.", nil, nil)
)

// Describe implements prometheus.Collector.
func (s *Publisher) Describe(to chan<- *prometheus.Desc) {
	to <- droppedSeries
	to <- pendingSeries
	to <- oldestSeries
}

// Collect implements prometheus.Collector.
func (s *Publisher) Collect(to chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pending, oldest := 0, 0.0
	if s.cfg.Port != nil { // without core's port no event is delivered, on purpose
		pending = len(s.history.Outbox)
	}
	if pending > 0 {
		oldest = s.cfg.Clock.Now().Sub(s.history.Outbox[0].Since).Seconds()
	}
	to <- prometheus.MustNewConstMetric(droppedSeries, prometheus.CounterValue, float64(s.dropped))
	to <- prometheus.MustNewConstMetric(pendingSeries, prometheus.GaugeValue, float64(pending))
	to <- prometheus.MustNewConstMetric(oldestSeries, prometheus.GaugeValue, oldest)
}
