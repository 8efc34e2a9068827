package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/shared/clock"
)

// passes are settlement and expiry.
type passes struct {
	clock  clock.Clock
	last   *prometheus.GaugeVec
	failed *prometheus.CounterVec
	ended  *prometheus.CounterVec
	lag    prometheus.Gauge
}

func newPasses(c clock.Clock) passes {
	p := passes{
		clock: c,
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "causeway_pass_last_success_timestamp_seconds", Help: "When the last pass of settlement or expiry ended that did all that was due.",
		}, []string{"pass"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_pass_failures_total", Help: "Passes of settlement or expiry that failed. They are made again.",
		}, []string{"pass"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_pass_transactions_total", Help: "Transactions that a pass settled or expired.",
		}, []string{"pass"}),
		lag: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "causeway_settlement_lag_seconds", Help: "How long a merchant's day has been over that is not settled, at the most; 0 when all are.",
		}),
	}
	for _, pass := range []string{"settlement", "expiry"} {
		p.last.WithLabelValues(pass)
		p.failed.WithLabelValues(pass)
		p.ended.WithLabelValues(pass)
	}
	return p
}

func (p *passes) all() []prometheus.Collector {
	return []prometheus.Collector{p.last, p.failed, p.ended, p.lag}
}

// SettlementBegun implements engine.Observer.
func (p *passes) SettlementBegun(lag time.Duration) { p.lag.Set(lag.Seconds()) }

// SettlementEnded implements engine.Observer.
func (p *passes) SettlementEnded(transactions int, err error) {
	p.end("settlement", transactions, err)
	if err == nil {
		p.lag.Set(0)
	}
}

// ExpiryEnded implements engine.Observer.
func (p *passes) ExpiryEnded(transactions int, err error) { p.end("expiry", transactions, err) }

func (p *passes) end(pass string, transactions int, err error) {
	p.ended.WithLabelValues(pass).Add(float64(transactions))
	if err != nil {
		p.failed.WithLabelValues(pass).Inc()
		return
	}
	p.last.WithLabelValues(pass).Set(seconds(p.clock.Now()))
}

// seconds is a time as Prometheus has it.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// age is how long ago a time is, 0 for the zero time.
func age(c clock.Clock, t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(0, c.Now().Sub(t).Seconds())
}
