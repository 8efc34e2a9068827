package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// TestDeclineOfAReclaimedFirstAttempt: recovery repeats the step, and the acquirer approves the
// repeated request. Before the approval is committed, the first attempt is declined. The approval
// is recorded: immediately if it arrives, and by a look if it is lost or the process dies.
func TestDeclineOfAReclaimedFirstAttempt(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		for _, fate := range []string{"arrives", "lost", "dies"} {
			t.Run(st.name+" "+fate, func(t *testing.T) {
				t.Parallel()
				s := coretest.Open(t)
				txn := st.MustPrepare(t, s)
				dir, lost := "", error(nil)
				if fate == "lost" {
					lost = acquirer.ErrUnknown
				}
				a, err := reclaimed(t, st.verb, s, nil, lost, func() (engine.Result, error) {
					a, err := st.take(t.Context(), s, s.Request("k"), txn)
					if fate == "dies" {
						dir = s.Snapshot(t)
					}
					return a, err
				})
				if err != nil || a.Status != 402 {
					t.Errorf("the first attempt: got %d %s, %v, want 402", a.Status, a.Body, err)
				}
				if fate == "dies" {
					s = s.Revive(t, dir)
				}
				if fate != "arrives" {
					lookUntilTheEnd(t, s)
				}
				st.wantDone(t, s)
				st.wantResponse(t, s, 402, true) // the first response stands
				st.wantDone(t, s)
			})
		}
	}
}

// TestDeclineOfAReclaimBetweenTwoCores is TestDeclineOfAReclaimedFirstAttempt with two cores that
// share a server. The second core considers the first one dead.
func TestDeclineOfAReclaimBetweenTwoCores(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			first := coretest.OpenShared(t)
			second := first.Beside(t)
			MustHeartbeat(t, first, second)
			txn := st.MustPrepare(t, first)
			a, err := reclaimed(t, st.verb, second, nil, acquirer.ErrUnknown, func() (engine.Result, error) {
				return st.take(t.Context(), first, first.Request("k"), txn)
			})
			if err != nil || a.Status != 402 {
				t.Errorf("the first core: got %d %s, %v, want 402", a.Status, a.Body, err)
			}
			lookUntilTheEnd(t, second)
			st.wantDone(t, first)
			st.wantResponse(t, first, 402, true)
		})
	}
}

// TestDeclineOfTheOnlyAttempt: no other attempt can have an effect, so there is no look.
func TestDeclineOfTheOnlyAttempt(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			txn := st.MustPrepare(t, s)
			s.Acquirer.Decide = func(coretest.Call) string { return "generic_decline" }
			if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != 402 {
				t.Errorf("got %d %s, %v, want 402", a.Status, a.Body, err)
			}
			if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 0 {
				t.Errorf("reversals: got %d, want none", got)
			}
			wantSettledBooks(t, s)
		})
	}
}

// declinedInquiry is an acquirer that reports a decline to inquiries while declines is set. The
// acquirer declined the repeated request as a duplicate of a request in progress.
type declinedInquiry struct {
	*coretest.Acquirer
	declines atomic.Bool
}

// Inquire implements acquirer.Acquirer.
func (d *declinedInquiry) Inquire(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	a, err := d.Acquirer.Inquire(ctx, about)
	if err == nil && d.declines.Load() {
		a = acquirer.Response{ResponseCode: "94", DeclineCode: "processing_error"}
	}
	return a, err
}

// TestLookAfterADeclinedInquiry: a look does not end with a declined inquiry. The acquirer
// processes the first request after that number of inquiries, and the approval is recorded.
func TestLookAfterADeclinedInquiry(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		for _, after := range []int{1, 2, 32} {
			t.Run(fmt.Sprint(st.name, " ", after), func(t *testing.T) {
				t.Parallel()
				s := coretest.Open(t)
				d := &declinedInquiry{Acquirer: s.Acquirer}
				s.Engine.Test = d
				st.mustLoseOutcome(t, s, true)
				reportsDecline(s, st.verb)
				s.Recover(t)
				heal(s)
				d.declines.Store(true)
				for range after {
					look(t, s)
				}
				d.declines.Store(false)
				lookUntilTheEnd(t, s)
				st.wantDone(t, s)
			})
		}
	}
}

// TestEndOfDeclinedInquiries: a look at a step that the acquirer always reports as declined ends
// after LateWindow.
func TestEndOfDeclinedInquiries(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			st.mustLoseOutcome(t, s, false)
			s.Acquirer.Decide = func(coretest.Call) string { return "generic_decline" }
			s.Recover(t)
			began := s.Clock.Now()
			lookUntilTheEnd(t, s)
			if got := s.Clock.Now().Sub(began); got != payment.LateWindow {
				t.Errorf("looked for %s, want %s", got, payment.LateWindow)
			}
			if got := len(s.Acquirer.Calls(coretest.Inquire)); got != 33 {
				t.Errorf("inquired %d times, want 33", got)
			}
			st.wantUndone(t, s)
		})
	}
}
