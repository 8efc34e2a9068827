package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
	"github.com/causeway-pay/causeway/shared/clock"
)

// passes are settlement and expiry.
type passes struct {
	clock  clock.Clock
	last   *prometheus.GaugeVec
	failed *prometheus.CounterVec
	ended  *prometheus.CounterVec
	lag    prometheus.Gauge
	skips  *prometheus.GaugeVec
	left   *prometheus.CounterVec
	except *prometheus.GaugeVec
	behind prometheus.Gauge
	ahead  prometheus.Gauge
}

func newPasses(c clock.Clock) passes {
	p := passes{
		clock: c,
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "causeway_pass_last_success_timestamp_seconds",
			Help: "End of the last pass of settlement or expiry that handled all due rows.",
		}, []string{"pass"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_pass_failures_total", Help: "Passes of settlement or expiry that failed. They are retried.",
		}, []string{"pass"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_pass_transactions_total", Help: "Transactions that a pass settled or expired.",
		}, []string{"pass"}),
		lag: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "causeway_settlement_lag_seconds",
			Help: "Time since the end of the oldest day with an unsettled capture of test mode, 0 for none.",
		}),
		skips: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "causeway_settlement_skipped",
			Help: "Left unsettled by the last pass after its day: merchants for time_zone, transactions for void and failed.",
		}, []string{"reason"}),
		except: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "causeway_settlement_exceptions",
			Help: "Captures of live mode that wait for an operator: unreported for days, or failed to settle.",
		}, []string{"kind"}),
		left: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_pass_skipped_objects_total",
			Help: "Objects that a background pass skipped because their change failed. A later pass tries again.",
		}, []string{"pass"}),
		behind: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "causeway_core_clock_behind_rows_seconds",
			Help: "Time by which this core's clock is behind the newest row of the store; 0 if it is not.",
		}),
		ahead: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "causeway_core_clock_unconfirmed_seconds",
			Help: "Time by which this core's clock is ahead of the confirmed time; 0 if it is not.",
		}),
	}
	for _, pass := range []string{"settlement", "expiry"} {
		p.last.WithLabelValues(pass)
		p.failed.WithLabelValues(pass)
		p.ended.WithLabelValues(pass)
	}
	for _, why := range engine.Skips() {
		p.skips.WithLabelValues(string(why))
	}
	p.SettlementExceptions(nil)
	for _, name := range pass.Names() {
		p.left.WithLabelValues(name)
	}
	return p
}

func (p *passes) all() []prometheus.Collector {
	return []prometheus.Collector{p.last, p.failed, p.ended, p.lag, p.skips, p.except, p.left, p.behind, p.ahead}
}

// SettlementBegun implements engine.Observer.
func (p *passes) SettlementBegun(lag time.Duration) { p.lag.Set(lag.Seconds()) }

// SettlementEnded implements engine.Observer.
func (p *passes) SettlementEnded(s engine.Settlement, err error) {
	p.end("settlement", s.Transactions, err)
	if err != nil {
		return // the lag stays as the pass began: part of it may be unsettled
	}
	p.lag.Set(s.Lag.Seconds())
	for _, why := range engine.Skips() {
		p.skips.WithLabelValues(string(why)).Set(float64(s.Skipped[why]))
	}
}

// SettlementExceptions implements engine.Observer.
func (p *passes) SettlementExceptions(n map[payment.ExceptionKind]int) {
	for _, kind := range []payment.ExceptionKind{payment.UnreportedCapture, payment.FailedSettlement} {
		p.except.WithLabelValues(string(kind)).Set(float64(n[kind]))
	}
}

// Skipped implements engine.Observer.
func (p *passes) Skipped(pass string) { p.left.WithLabelValues(pass).Inc() }

// ClockBehind implements engine.Observer.
func (p *passes) ClockBehind(by time.Duration) { p.behind.Set(by.Seconds()) }

// ClockUnconfirmed implements engine.Observer.
func (p *passes) ClockUnconfirmed(by time.Duration) { p.ahead.Set(by.Seconds()) }

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

// seconds returns a time as Prometheus has it.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// age returns how long ago a time is, 0 for the zero time.
func age(c clock.Clock, t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(0, c.Now().Sub(t).Seconds())
}
