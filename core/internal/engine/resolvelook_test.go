package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// mustResolve ends the only unfinished step of a kind as an operator decides.
func mustResolve(t *testing.T, s *coretest.Service, kind payment.StepKind, end engine.Decision) {
	t.Helper()
	_, f := mustUnfinished(t, s, kind)
	mustDecide(t, s, f, engine.Resolution{Decision: end, Reason: "statement of November 22, line 7", AsOf: s.Clock.Now()})
}

// mustResolveWithID resolves the only unfinished step of a kind as approved, with the acquirer's id
// of it, which it returns.
func mustResolveWithID(t *testing.T, s *coretest.Service, kind payment.StepKind) string {
	t.Helper()
	u, f := mustUnfinished(t, s, kind)
	d := engine.Resolution{Decision: engine.DecisionApproved, Reason: "statement of November 22, line 7", AsOf: s.Clock.Now()}
	d.AcquirerID = coretest.IDOf(engine.StepReference(&u))
	mustDecide(t, s, f, d)
	return d.AcquirerID
}

func mustDecide(t *testing.T, s *coretest.Service, f payment.UnfinishedFilter, d engine.Resolution) {
	t.Helper()
	if a, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); err != nil || a.Status != 200 {
		t.Fatalf("resolve: got %d %s, %v", a.Status, a.Body, err)
	}
}

// wantKeyTaken checks that a retry under the key of a step is refused.
func (st step) wantKeyTaken(t *testing.T, s *coretest.Service) {
	t.Helper()
	txn := s.Number(t, "SELECT COALESCE(MAX(id), 0) FROM transactions")
	if a, err := st.take(t.Context(), s, s.Request("k"), txn); !errors.Is(err, engine.ErrKeyInUse) {
		t.Errorf("a retry during the look: got %d %s, %v, want %v", a.Status, a.Body, err, engine.ErrKeyInUse)
	}
}

// TestNoEffectKeepsTheKey: an operator resolves a capture, void or refund as without effect. A
// retry under its key is refused while the look goes on. It gets the response if the look finds the
// effect, and is a first request after a look that found none.
func TestNoEffectKeepsTheKey(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		for _, effect := range []bool{false, true} {
			t.Run(fmt.Sprint(st.name, " ", effect), func(t *testing.T) {
				t.Parallel()
				s := coretest.Open(t)
				st.mustLoseOutcome(t, s, effect)
				s.Clock.Advance(engine.Patience)
				mustResolve(t, s, payment.StepKind(st.verb), engine.DecisionNoEffect)
				st.wantKeyTaken(t, s)
				if effect {
					look(t, s)
				} else {
					for range 32 {
						look(t, s)
						st.wantKeyTaken(t, s)
					}
					lookUntilTheEnd(t, s)
				}
				st.wantResponse(t, s, st.success, effect)
				if st.verb == coretest.Void && !effect {
					return // the dropped request counts as a void at the acquirer
				}
				st.wantDone(t, s)
			})
		}
	}
}

// TestApprovalAfterNoEffect: the first attempt stalls on one core, and an operator of another core
// resolves its step as without effect. Then it is approved: it is recorded, its key gets the
// response, and no look remains that could make the acquirer drop it.
func TestApprovalAfterNoEffect(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			first := coretest.OpenShared(t)
			second := first.Beside(t)
			txn := st.MustPrepare(t, first)
			first.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
				if c.Verb == st.verb {
					first.Acquirer.Before = nil
					second.Clock.Advance(engine.Patience)
					mustResolve(t, second, payment.StepKind(st.verb), engine.DecisionNoEffect) //nolint:contextcheck // the test's
				}
				return nil
			}
			if a, err := st.take(t.Context(), first, first.Request("k"), txn); err != nil || a.Status != 504 {
				t.Errorf("got %d %s, %v, want 504", a.Status, a.Body, err)
			}
			if got := first.Number(t, "SELECT COUNT(*) FROM reversals"); got != 0 {
				t.Errorf("reversals: got %d, want none", got)
			}
			st.wantDone(t, first)
			st.wantResponse(t, first, st.success, true)
			st.wantDone(t, first)
		})
	}
}

// TestAnotherVoidAfterNoEffect: an operator resolves a void as without effect, and another void
// succeeds. Then the look finds that the first void succeeded too. The key of the first void is
// free.
func TestAnotherVoidAfterNoEffect(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	txn := MustTransaction(t, s).ID
	lose(s, coretest.Void, true, nil)
	if a, err := s.Engine.Void(t.Context(), s.Request("k"), txn, nil); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	heal(s)
	s.Clock.Advance(engine.Patience)
	mustResolve(t, s, payment.VoidStep, engine.DecisionNoEffect)
	if a, err := s.Engine.Void(t.Context(), s.Request("l"), txn, nil); err != nil || a.Status != 200 {
		t.Fatalf("the other: got %d %s, %v, want 200", a.Status, a.Body, err)
	}
	lookUntilTheEnd(t, s)
	wantSettledBooks(t, s)
	if a, err := s.Engine.Void(t.Context(), s.Request("k"), txn, nil); err != nil || a.Replayed {
		t.Errorf("a retry: got %d %s replayed %t, %v, want a first request", a.Status, a.Body, a.Replayed, err)
	}
}

// TestResolvedPaymentIsReleased: an operator resolves a payment as declined or without effect, and
// the acquirer holds it. The look releases it.
func TestResolvedPaymentIsReleased(t *testing.T) {
	t.Parallel()
	for _, end := range []engine.Decision{engine.DecisionDeclined, engine.DecisionNoEffect} {
		t.Run(string(end), func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			lose(s, coretest.Authorize, true, nil)
			if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
				t.Fatalf("got %d, %v, want 504", a.Status, err)
			}
			heal(s)
			s.Clock.Advance(engine.Patience)
			mustResolve(t, s, payment.AuthorizeStep, end)
			wantSettledBooks(t, s)
			lookUntilTheEnd(t, s)
			if got := s.Acquirer.HeldInAll(); got != 0 {
				t.Errorf("held: got %d, want nothing", got)
			}
			wantSettledBooks(t, s)
		})
	}
}

// giveUndropped makes an unlinked refund that the acquirer has not processed. Recovery has found no
// refund, and its drop request did not reach the acquirer.
func giveUndropped(t *testing.T, s *coretest.Service) (sent coretest.Call) {
	t.Helper()
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		switch c.Verb { //nolint:exhaustive // the others pass
		case coretest.Credit:
			sent = c
			return acquirer.ErrUnknown
		case coretest.Void:
			return acquirer.ErrUnavailable
		}
		return nil
	}
	if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	s.Recover(t)
	if got := s.Number(t, "SELECT COUNT(*) FROM reversals WHERE asked = 0"); got != 1 {
		t.Fatalf("reversals: got %d, want one that is not acknowledged", got)
	}
	heal(s)
	return sent
}

// TestApprovedUnlinkedRefundIsNotDropped: an operator resolves an unlinked refund as approved,
// which inquiries do not find yet. Core does not request that the acquirer drop it.
func TestApprovedUnlinkedRefundIsNotDropped(t *testing.T) {
	t.Parallel()
	s := MustOpenGiving(t)
	sent := giveUndropped(t, s)
	s.Clock.Advance(engine.Patience)
	mustResolve(t, s, payment.RefundStep, engine.DecisionApproved)
	dropped := len(s.Acquirer.Calls(coretest.Void))
	lookUntilTheEnd(t, s)
	s.Recover(t)
	if got := len(s.Acquirer.Calls(coretest.Void)); got != dropped {
		t.Errorf("requests to drop it: got %d, want none", got-dropped)
	}
	process(t, s, sent)
	wantGivenOnce(t, s)
}

// TestNoEffectOfAnUnlinkedRefund: an unlinked refund that already has a pending reversal is
// resolved as without effect. Its key stays taken until the look ends, and gets the response if the
// refund is found.
func TestNoEffectOfAnUnlinkedRefund(t *testing.T) {
	t.Parallel()
	for _, effect := range []bool{false, true} {
		t.Run(fmt.Sprint(effect), func(t *testing.T) {
			t.Parallel()
			s := MustOpenGiving(t)
			sent := giveUndropped(t, s)
			s.Clock.Advance(engine.Patience)
			mustResolve(t, s, payment.RefundStep, engine.DecisionNoEffect)
			look(t, s)
			if a, err := give(t.Context(), s, "k", "card"); !errors.Is(err, engine.ErrKeyInUse) {
				t.Errorf("a retry during the look: got %d %s, %v, want %v", a.Status, a.Body, err, engine.ErrKeyInUse)
			}
			if effect {
				process(t, s, sent)
				lookUntilTheEnd(t, s)
				wantSettledBooks(t, s)
				if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 201 || !a.Replayed {
					t.Errorf("a retry: got %d %s replayed %t, %v, want the response", a.Status, a.Body, a.Replayed, err)
				}
				return
			}
			lookUntilTheEnd(t, s)
			wantSettledBooks(t, s)
			if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 201 || a.Replayed {
				t.Errorf("a retry: got %d %s replayed %t, %v, want a first request", a.Status, a.Body, a.Replayed, err)
			}
		})
	}
}

// TestStalledUnlinkedRefundIsNotDropped: recovery has requested to drop a stalled unlinked refund
// without a response, and the first attempt is approved. Core inquires and records it, and does not
// request the drop again.
func TestStalledUnlinkedRefundIsNotDropped(t *testing.T) {
	t.Parallel()
	s := MustOpenGiving(t)
	first := true
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		switch {
		case c.Verb == coretest.Void:
			return acquirer.ErrUnavailable
		case c.Verb == coretest.Credit && first:
			first = false
			s.Recover(t)                                                                        //nolint:contextcheck // it is the test's
			if got := s.Number(t, "SELECT COUNT(*) FROM reversals WHERE asked = 0"); got != 1 { //nolint:contextcheck // the test's
				t.Errorf("reversals: got %d, want one that is not acknowledged", got)
			}
		}
		return nil
	}
	if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 504 {
		t.Errorf("got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	heal(s)
	lookUntilTheEnd(t, s)
	wantGivenOnce(t, s)
	if got := s.Acquirer.Calls(coretest.Void); len(got) != 0 {
		t.Errorf("got %+v, want no request to drop it", got)
	}
}

// TestAttemptOfACoreThatIsAhead: an attempt counts as running although the clock of its core is
// seconds ahead of this one's. An attempt that began minutes ahead was written by a wrong clock.
func TestAttemptOfACoreThatIsAhead(t *testing.T) {
	t.Parallel()
	for _, at := range []struct {
		behind   time.Duration
		patience time.Duration
		running  bool
	}{
		{0, engine.Patience, true},
		{time.Millisecond, engine.Patience, true},
		{5 * time.Second, engine.Patience, true},
		{2 * time.Minute, engine.Patience, false},
		{-engine.Patience, engine.Patience, false},
		{time.Millisecond, 0, false}, // of a process that has ended
	} {
		t.Run(fmt.Sprint(at.behind, " ", at.patience), func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			lose(s, coretest.Authorize, true, nil)
			if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 504 {
				t.Fatalf("got %d, %v, want 504", a.Status, err)
			}
			u, _ := mustUnfinished(t, s, payment.AuthorizeStep)
			begin := func(tx *store.Tx) error {
				return tx.BeginAttempt(u.Step, at.patience, func(int64) time.Duration { return time.Second })
			}
			if err := s.DB.Update(t.Context(), begin); err != nil {
				t.Fatal(err)
			}
			s.Clock.Advance(-at.behind)
			var hold, again error
			if at.running {
				hold, again = store.ErrAttempt, store.ErrConflict
			}
			err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.HoldStep(u.Step, at.patience) })
			if !errors.Is(err, hold) {
				t.Errorf("an operator: got %v, want %v", err, hold)
			}
			if err := s.DB.Update(t.Context(), begin); !errors.Is(err, again) {
				t.Errorf("another core: got %v, want %v", err, again)
			}
		})
	}
}
