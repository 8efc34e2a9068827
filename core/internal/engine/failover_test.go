package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// paymentSteps returns the steps that are payments.
func paymentSteps() []step {
	var out []step
	for _, st := range steps() {
		if st.authorizes() && st.attempt < 2 {
			out = append(out, st)
		}
	}
	return out
}

// mustOpenTwo opens a service with two live accounts, and makes the transaction of the step.
func (st step) mustOpenTwo(t *testing.T) (s *coretest.Service, second *coretest.Acquirer, txn int64) {
	t.Helper()
	s = coretest.OpenLive(t)
	txn = st.MustPrepare(t, s)
	return s, s.AddAccount(t, otherAccount), txn
}

// attempts returns the recorded attempts.
func attempts(t *testing.T, s *coretest.Service) string {
	t.Helper()
	return fmt.Sprint(s.Texts(t, "SELECT number || ' ' || account || ' ' || tag || ' ' || state || ' ' || class FROM attempts"))
}

// TestFailoverOnProof: no byte of the request to the first account was sent. The payment is at the
// second account before that gets the request. All later steps are there.
func TestFailoverOnProof(t *testing.T) {
	t.Parallel()
	for _, st := range paymentSteps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s, second, txn := st.mustOpenTwo(t)
			first := s.Acquirer
			first.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
			second.Before = func(_ context.Context, c coretest.Call) error {
				if got := MustTransaction(t, s); c.Verb == coretest.Authorize && (got.Account != otherAccount || got.Tag == "") { //nolint:contextcheck // the test's
					t.Errorf("at the request: got account %d, tag %q", got.Account, got.Tag)
				}
				return nil
			}
			if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != st.success {
				t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
			}
			s.Acquirer = second
			st.wantDone(t, s)
			if got, want := attempts(t, s), fmt.Sprintf("[1 %d tag_1 ended unavailable]", int64(coretest.LiveAccount)); got != want {
				t.Errorf("attempts: got %s, want %s", got, want)
			}
			st.wantResponse(t, s, st.success, true)
			if a, err := s.Engine.Void(t.Context(), s.Request(""), MustTransaction(t, s).ID, nil); err != nil || a.Status != 200 {
				t.Errorf("void: got %d %s, %v", a.Status, a.Body, err)
			}
			if got := second.HeldInAll(); got != 0 || first.Moved(coretest.Authorize) != 0 {
				t.Errorf("held: got %d, and %d at the first account", got, first.Moved(coretest.Authorize))
			}
		})
	}
}

// TestNoFailoverWithoutProof: after an unknown outcome, a decline or any other error, the second
// account gets nothing.
func TestNoFailoverWithoutProof(t *testing.T) {
	t.Parallel()
	for _, st := range paymentSteps() {
		for _, why := range []error{nil, acquirer.ErrUnknown, acquirer.ErrNotFound, context.DeadlineExceeded} {
			for _, effect := range []bool{false, true} {
				t.Run(fmt.Sprint(st.name, " ", why, " ", effect), func(t *testing.T) {
					t.Parallel()
					s, second, txn := st.mustOpenTwo(t)
					second.Before = func(_ context.Context, c coretest.Call) error {
						t.Errorf("the second account got %+v", c)
						return acquirer.ErrUnknown
					}
					hook := func(context.Context, coretest.Call) error { return why }
					if s.Acquirer.Before = hook; effect {
						s.Acquirer.Before, s.Acquirer.After = nil, hook
					}
					want := 504
					if why == nil {
						s.Acquirer.Decide, want = func(coretest.Call) string { return "do_not_honor" }, 402
					}
					if a, err := st.take(t.Context(), s, s.Request(""), txn); err != nil || a.Status != want {
						t.Fatalf("got %d %s, %v, want %d", a.Status, a.Body, err, want)
					}
					heal(s)
					s.Recover(t)
					lookUntilTheEnd(t, s)
					if got := attempts(t, s); got != "[]" {
						t.Errorf("attempts: got %s", got)
					}
				})
			}
		}
	}
}

// TestBothAccountsUnavailable: the request had no effect, and can be repeated under its key.
func TestBothAccountsUnavailable(t *testing.T) {
	t.Parallel()
	for _, st := range paymentSteps() {
		for _, unprepared := range []bool{false, true} {
			t.Run(fmt.Sprint(st.name, " ", unprepared), func(t *testing.T) {
				t.Parallel()
				s, second, txn := st.mustOpenTwo(t)
				away := func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
				s.Acquirer.Before, second.Before = away, away
				if unprepared {
					second.Unprepared = errors.New("not signed on")
				}
				if a, err := st.take(t.Context(), s, s.Request("k"), txn); !errors.Is(err, engine.ErrAcquirerUnavailable) {
					t.Fatalf("got %d %s, %v, want %v", a.Status, a.Body, err, engine.ErrAcquirerUnavailable)
				}
				st.wantUndone(t, s)
				if got := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE account <> 0 OR tag <> ''"); got != 0 {
					t.Error("the waiting payment has an account")
				}
				if got := s.Number(t, "SELECT COUNT(*) FROM idempotency_keys"); got != 0 {
					t.Error("the key is still taken")
				}
				heal(s)
				st.wantResponse(t, s, st.success, false)
				st.wantDone(t, s)
			})
		}
	}
}

// TestFirstAccountCannotSend: the first account cannot prepare a request, so the payment begins at
// the second one.
func TestFirstAccountCannotSend(t *testing.T) {
	t.Parallel()
	for _, st := range paymentSteps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s, second, txn := st.mustOpenTwo(t)
			s.Acquirer.Unprepared = errors.New("not signed on")
			s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
				t.Errorf("the first account got %+v", c)
				return acquirer.ErrUnknown
			}
			if a, err := st.take(t.Context(), s, s.Request(""), txn); err != nil || a.Status != st.success {
				t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
			}
			s.Acquirer = second
			st.wantDone(t, s)
			if got := attempts(t, s); got != "[]" {
				t.Errorf("attempts: got %s, want none", got)
			}
		})
	}
}

// TestKilledDuringFailover: the process dies when the second account has the request, before or
// after the effect. Recovery inquires at the second account only.
func TestKilledDuringFailover(t *testing.T) {
	t.Parallel()
	for _, st := range paymentSteps() {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(st.name, " ", after), func(t *testing.T) {
				t.Parallel()
				s, second, txn := st.mustOpenTwo(t)
				s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
				var dir string
				die := func(context.Context, coretest.Call) error {
					dir = s.Snapshot(t) //nolint:contextcheck // the test's
					return acquirer.ErrUnknown
				}
				if second.Before = die; after {
					second.Before, second.After = nil, die
				}
				if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != 504 {
					t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
				}
				next := s.Revive(t, dir)
				next.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
					t.Errorf("the first account got %+v", c)
					return acquirer.ErrUnknown
				}
				if open := next.Recover(t); open != 0 {
					t.Fatalf("%d stay open", open)
				}
				next.Acquirer = next.Accounts.Of(otherAccount)
				if after {
					st.wantDone(t, next)
					return
				}
				lookUntilTheEnd(t, next)
				wantSettledBooks(t, next)
				if got := next.Acquirer.HeldInAll(); got != 0 {
					t.Errorf("held: got %d", got)
				}
			})
		}
	}
}

// TestReclaimedBeforeFailover: recovery has reclaimed the payment during the attempt at its first
// account. The payment stays there, although that attempt had no effect.
func TestReclaimedBeforeFailover(t *testing.T) {
	t.Parallel()
	s, second, _ := paymentSteps()[0].mustOpenTwo(t)
	second.Before = func(_ context.Context, c coretest.Call) error {
		t.Errorf("the second account got %+v", c)
		return acquirer.ErrUnknown
	}
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		if c.Verb == coretest.Authorize {
			s.MustExec(t, "UPDATE transactions SET reclaimed_at = 1") //nolint:contextcheck // the test's
			return acquirer.ErrUnavailable
		}
		return nil
	}
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	if got := MustTransaction(t, s); got.Account != coretest.LiveAccount || got.Status != payment.Unknown {
		t.Errorf("got %s at %d", got.Status, got.Account)
	}
	if got := attempts(t, s); got != "[]" {
		t.Errorf("attempts: got %s", got)
	}
}

// moving are live accounts. A payment moves to another account when its account is looked up.
type moving struct {
	*coretest.Accounts
	move func()
}

func (m *moving) Account(ctx context.Context, id int64) (acquirer.Account, error) {
	m.move()
	return m.Accounts.Account(ctx, id)
}

// TestRecoveryOfAMovedPayment: a payment moves to its second account after recovery has read it.
// The first account cannot decide about it any more.
func TestRecoveryOfAMovedPayment(t *testing.T) {
	t.Parallel()
	s, second, _ := paymentSteps()[0].mustOpenTwo(t)
	lose(s, coretest.Authorize, false, nil)
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	heal(s)
	second.Arrive(acquirer.Authorize{Reference: s.Acquirer.Payments()[0].Reference, Amount: 100})
	tag, err := second.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Engine.Live = &moving{s.Accounts, func() {
		s.MustExec(t, "UPDATE transactions SET account = ?, tag = ?", int64(otherAccount), tag)
	}}
	s.Recover(t)
	s.Recover(t)
	if got := MustTransaction(t, s); got.Status != payment.Captured {
		t.Errorf("got %s, want the approval of the second account", got.Status)
	}
	if got := len(s.Acquirer.Calls(coretest.Inquire)); got != 0 {
		t.Errorf("the first account got %d inquiries", got)
	}
}

// TestFollowUpOfAMovedPayment: a payment has another account at the intent of a step than when the
// step was prepared. The step is not begun, and no account gets a request.
func TestFollowUpOfAMovedPayment(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			txn := st.MustPrepare(t, s)
			second := s.AddAccount(t, otherAccount)
			s.Engine.Live = &moving{s.Accounts, func() {
				s.MustExec(t, "UPDATE transactions SET account = ?", int64(otherAccount))
			}}
			if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != 409 || a.Refusal.Code != payment.OperationInProgress {
				t.Errorf("got %d %s, %v, want a refusal that the client can retry", a.Status, a.Body, err)
			}
			if got := len(s.Acquirer.Follows()) + len(second.Follows()); got != 0 {
				t.Errorf("%d requests were sent", got)
			}
			st.wantUndone(t, s)
		})
	}
}
