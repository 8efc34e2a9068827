package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/clock"
)

type recovery struct {
	attempted *prometheus.CounterVec
	finished  *prometheus.CounterVec
	open      *prometheus.GaugeVec
	oldest    *atomic.Int64 // milliseconds, 0 for none
	age       prometheus.GaugeFunc

	contradictions *prometheus.CounterVec
}

func newRecovery(c clock.Clock) recovery {
	oldest := &atomic.Int64{}
	r := recovery{
		attempted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_recovery_taken_up_total",
			Help: "Claims of unfinished steps by recovery, by kind.",
		}, []string{"step"}),
		finished: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_recovery_finished_total", Help: "Steps that recovery ended, by kind.",
		}, []string{"step"}),
		open: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "causeway_recovery_open_steps",
			Help: "Steps without an outcome at the last pass of recovery, by kind.",
		}, []string{"step"}),
		oldest: oldest,
		age: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "causeway_recovery_oldest_open_seconds",
			Help: "Age of the oldest step without an outcome at the last pass of recovery; 0 if there is none.",
		}, func() float64 {
			if ms := oldest.Load(); ms != 0 {
				return age(c, time.UnixMilli(ms))
			}
			return 0
		}),
	}
	r.contradictions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "causeway_acquirer_contradictions_total",
		Help: "Responses of acquirers that contradict the recorded outcome, by kind of step and of contradiction.",
	}, []string{"step", "kind"})
	for _, step := range payment.StepKinds() {
		for _, kind := range engine.Contradictions() {
			r.contradictions.WithLabelValues(string(step), string(kind))
		}
		r.attempted.WithLabelValues(string(step))
		r.finished.WithLabelValues(string(step))
		r.open.WithLabelValues(string(step))
	}
	return r
}

func (r *recovery) all() []prometheus.Collector {
	return []prometheus.Collector{r.attempted, r.finished, r.open, r.age, r.contradictions}
}

// RecoveryLooked implements engine.Observer.
func (r *recovery) RecoveryLooked(open map[payment.StepKind]int, oldest time.Time) {
	for _, step := range payment.StepKinds() {
		r.open.WithLabelValues(string(step)).Set(float64(open[step]))
	}
	ms := int64(0)
	if !oldest.IsZero() {
		ms = oldest.UnixMilli()
	}
	r.oldest.Store(ms)
}

// RecoveryAttempted implements engine.Observer.
func (r *recovery) RecoveryAttempted(step payment.StepKind, finished bool) {
	r.attempted.WithLabelValues(string(step)).Inc()
	if finished {
		r.finished.WithLabelValues(string(step)).Inc()
	}
}

// AcquirerContradicted implements engine.Observer.
func (r *recovery) AcquirerContradicted(step payment.StepKind, what engine.Contradiction) {
	r.contradictions.WithLabelValues(string(step), string(what)).Inc()
}
