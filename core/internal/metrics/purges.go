package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/shared/clock"
)

// purges are the removals of rows past their retention.
type purges struct {
	clock clock.Clock
	rows  *prometheus.CounterVec
	last  *prometheus.GaugeVec
}

// The kinds of rows that are purged.
const (
	keys       = "idempotency_key"
	tokens     = "token"
	deliveries = "webhook_delivery"
	events     = "event"
	personal   = "personal_data"
)

func newPurges(c clock.Clock) purges {
	p := purges{
		clock: c,
		rows: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_purged_rows_total", Help: "Rows that were removed at the end of their retention, by kind.",
		}, []string{"kind"}),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "causeway_purge_last_success_timestamp_seconds",
			Help: "End of the last purge that removed all rows past their retention, by kind.",
		}, []string{"kind"}),
	}
	for _, kind := range []string{keys, tokens, deliveries, events, personal} {
		p.rows.WithLabelValues(kind)
		p.last.WithLabelValues(kind)
	}
	return p
}

func (p *purges) all() []prometheus.Collector { return []prometheus.Collector{p.rows, p.last} }

// KeysPurged counts a purge of idempotency keys.
func (p *purges) KeysPurged(n int64, err error) { p.end(keys, n, err) }

// TokensSwept implements engine.Observer.
func (p *purges) TokensSwept(n int64, err error) { p.end(tokens, n, err) }

// DeliveriesPurged implements webhook.Observer.
func (p *purges) DeliveriesPurged(n int64, err error) { p.end(deliveries, n, err) }

// EventsPurged counts a purge of events.
func (p *purges) EventsPurged(n int64, err error) { p.end(events, n, err) }

// PersonalErased counts the rows from which personal data was erased.
func (p *purges) PersonalErased(n int64, err error) { p.end(personal, n, err) }

func (p *purges) end(kind string, n int64, err error) {
	p.rows.WithLabelValues(kind).Add(float64(n))
	if err == nil {
		p.last.WithLabelValues(kind).Set(seconds(p.clock.Now()))
	}
}
