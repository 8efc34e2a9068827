package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// awaited is the id of the step that the other steps of a test must not delay.
const awaited = 1

// otherSteps returns steps of one kind for each of some tenants, all in the same state as like.
func otherSteps(like engine.LaneStep, tenants, each int) (out []engine.LaneStep) {
	for tenant := range tenants {
		for range each {
			like.ID = awaited + 1 + int64(len(out))
			like.Tenant.Merchant = int64(tenant) + 10
			out = append(out, like)
		}
	}
	return out
}

// slowLanes are lanes whose attempts fail, each when the test ends it. Steps without an id succeed
// immediately.
type slowLanes struct {
	*engine.Lanes
	end   chan struct{}
	begun bool // an attempt at the awaited step; read it while all attempts wait
}

func newSlowLanes() *slowLanes {
	l := &slowLanes{end: make(chan struct{})}
	l.Lanes = engine.NewLanes(func(s engine.LaneStep) error {
		if s.ID == 0 {
			return nil
		}
		if s.ID == awaited {
			l.begun = true
		}
		<-l.end
		return errForGood
	})
	return l
}

// stop ends all attempts.
func (l *slowLanes) stop() {
	l.Stop()
	close(l.end)
	l.Wait()
}

// TestFailingLaneTakesTurns: new steps that get no response delay no retry of their lane, and
// retries delay no new step.
func TestFailingLaneTakesTurns(t *testing.T) {
	t.Parallel()
	untried := payment.StepAttempt{}
	retry := payment.StepAttempt{Attempts: 9, BegunAt: coretest.Birth.Add(-time.Hour), NextAt: coretest.Birth.Add(-time.Hour)}
	later := payment.StepAttempt{Attempts: 9, BegunAt: coretest.Birth.Add(-time.Hour), NextAt: coretest.Birth}
	ahead := payment.StepAttempt{
		Attempts: 9, BegunAt: coretest.Birth.Add(87600 * time.Hour), NextAt: coretest.Birth.Add(87600 * time.Hour),
	}
	for name, c := range map[string]struct{ others, one payment.StepAttempt }{
		"a retry among new steps":                {untried, retry},
		"the retry that is due longest":          {later, retry},
		"a new step among retries":               {retry, untried},
		"a step of a clock ahead, among retries": {retry, ahead},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newSlowLanes()
				others := otherSteps(engine.LaneStep{Kind: payment.AuthorizeStep, Last: c.others}, 1, 30)
				finishing := engine.LaneStep{Tenant: payment.Tenant{Merchant: 2}, Kind: payment.AuthorizeStep}
				end := func() {
					l.Pass(coretest.Birth, append(others, finishing)...) // the acquirer is not away
					synctest.Wait()
					l.end <- struct{}{}
					synctest.Wait()
				}
				for range 20 { // the lane fails, and its queue is full
					end()
				}
				others = append(others, engine.LaneStep{Tenant: others[0].Tenant, Kind: payment.AuthorizeStep, ID: awaited, Last: c.one})
				for range 10 {
					end()
				}
				if !l.begun {
					t.Error("the step is not among ten attempts of its lane")
				}
				l.stop()
			})
		})
	}
}

// TestFullQueueDelaysNoOther: the steps of many merchants wait for an acquirer that does not
// respond. A step of the other mode begins, and so does a step of the other gate.
func TestFullQueueDelaysNoOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		waiting payment.StepKind
		live    bool
		one     payment.StepKind
	}{
		"a live refund behind reversals of test mode":   {payment.ReversalStep, false, payment.RefundStep},
		"a live refund behind refunds of test mode":     {payment.RefundStep, false, payment.RefundStep},
		"a live reversal behind reversals of test mode": {payment.ReversalStep, false, payment.ReversalStep},
		"a live refund behind live reversals":           {payment.ReversalStep, true, payment.RefundStep},
		"a live reversal behind live refunds":           {payment.RefundStep, true, payment.ReversalStep},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newSlowLanes()
				others := otherSteps(engine.LaneStep{Tenant: payment.Tenant{Live: c.live}, Kind: c.waiting}, 20, 300)
				for range 3 { // the workers take some
					l.Pass(coretest.Birth, others...)
					synctest.Wait()
				}
				if got := l.Queued(); got > 4096 {
					t.Errorf("waiting: got %d, want at most 4,096", got)
				}
				one := engine.LaneStep{Tenant: payment.Tenant{Merchant: 2, Live: true}, Kind: c.one, ID: awaited}
				l.Pass(coretest.Birth, append(others, one)...)
				synctest.Wait()
				if !l.begun {
					t.Error("the step waits for the others")
				}
				l.stop()
			})
		})
	}
}

// TestFailingReversalsDelayNoOtherStep: the acquirer fails at all reversals of many merchants. The
// steps of the other kinds do not share the pauses of the reversals, nor their number in each pass.
func TestFailingReversalsDelayNoOtherStep(t *testing.T) {
	t.Parallel()
	done := false
	l := engine.NewLanes(func(s engine.LaneStep) error {
		if s.ID == awaited {
			done = true
			return nil
		}
		return errForGood
	})
	others := otherSteps(engine.LaneStep{Kind: payment.ReversalStep}, 30, 10)
	l.Pass(coretest.Birth, others...)
	l.Wait()
	l.Pass(coretest.Birth, others...)
	l.Wait()
	one := engine.LaneStep{Tenant: payment.Tenant{Merchant: 2}, Kind: payment.RefundStep, ID: awaited}
	l.Pass(coretest.Birth, append(others, one)...) // during the pause of the reversals
	l.Wait()
	if !done {
		t.Error("the refund was not tried")
	}
}
