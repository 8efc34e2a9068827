package engine

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// lane is what is remembered of a tenant between passes.
type lane struct {
	busy     bool
	failures int       // passes in a row in which nothing went through
	next     time.Time // not before
	after    int64     // the step that failed last: the next pass begins behind it
}

// resting is the tenants that are being worked for or pausing.
func (r *Recovery) resting() map[payment.Tenant]bool {
	now := r.e.Clock.Now()
	out := map[payment.Tenant]bool{}
	r.mu.Lock()
	defer r.mu.Unlock()
	for tenant, l := range r.state {
		if l.busy || now.Before(l.next) {
			out[tenant] = true
		}
	}
	return out
}

// take makes the tenant's lane busy, and puts the steps behind the one that failed last in front.
func (r *Recovery) take(tenant payment.Tenant, tasks []task) *lane {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.state[tenant]
	if l == nil {
		l = &lane{}
		r.state[tenant] = l
	}
	l.busy = true
	slices.SortFunc(tasks, func(a, b task) int {
		return cmp.Or(cmp.Compare(tried(a, l), tried(b, l)), cmp.Compare(a.id, b.id))
	})
	return l
}

func tried(t task, l *lane) int {
	if t.id <= l.after {
		return 1
	}
	return 0
}

// work finishes a tenant's steps one after the other, and decides on its pause.
func (r *Recovery) work(ctx context.Context, tenant payment.Tenant, l *lane, tasks []task) {
	slot := r.slots[tenant.Live]
	slot <- struct{}{}
	traced, span := r.e.Tracer.Pass(ctx, "recovery")
	done, failed, inARow, last := 0, 0, 0, int64(0)
	for _, t := range tasks {
		if ctx.Err() != nil || inARow == laneFailures {
			break
		}
		err := t.do(traced)
		r.e.Observer.RecoveryTookUp(t.step, err == nil)
		if err != nil {
			failed, inARow, last = failed+1, inARow+1, t.id
			continue
		}
		r.e.givenUp.Delete(t.reference)
		done, inARow = done+1, 0
	}
	<-slot
	span.Int(telemetry.Objects, len(tasks))
	span.Int(telemetry.Finished, done)
	span.End()
	r.mu.Lock()
	defer r.mu.Unlock()
	l.busy, l.after = false, last
	switch {
	case failed == 0:
		delete(r.state, tenant)
	case done > 0:
		l.failures, l.next = 0, r.e.Clock.Now().Add(firstPause)
	default:
		pause := min(firstPause<<min(l.failures, 10), longestPause)
		l.failures, l.next = l.failures+1, r.e.Clock.Now().Add(pause)
		r.e.Log.WarnContext(ctx, "reconcile: nothing went through", slog.Int("open", len(tasks)), slog.Duration("pause", pause))
	}
}
