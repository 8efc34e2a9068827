package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	return fmt.Sprint(s.Texts(t, "SELECT number || ' ' || account || ' ' || tag || ' ' || class FROM attempts"))
}

// proofs make an acquirer prove that its attempt at a payment has no effect, by the class in the
// record of the attempt.
var proofs = map[string]func(*coretest.Acquirer){
	"unavailable": func(a *coretest.Acquirer) {
		a.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
	},
	"declined": func(a *coretest.Acquirer) {
		a.Decide, a.Retryable = func(coretest.Call) string { return "processing_error" }, true
		a.Network = acquirer.NetworkDecline{Given: true, Code: "91"}
	},
	"reversed": func(a *coretest.Acquirer) { a.Grant = func(coretest.Call) int64 { return 40 } },
}

// onEachProof runs a test for each step that is a payment, after each proof.
func onEachProof(t *testing.T, test func(t *testing.T, st step, proof string)) {
	t.Helper()
	for _, st := range paymentSteps() {
		for proof := range proofs {
			t.Run(st.name+" "+proof, func(t *testing.T) {
				t.Parallel()
				test(t, st, proof)
			})
		}
	}
}

// TestNoEffect: only three outcomes prove that an attempt has no effect.
func TestNoEffect(t *testing.T) {
	t.Parallel()
	part := acquirer.Response{Approved: true, Amount: 40}
	released := part
	released.Released = true
	decline := acquirer.Response{DeclineCode: "processing_error", Retryable: true}
	approvedFirst := decline
	approvedFirst.Code = "A1B2C3" // by the issuer
	for _, c := range []struct {
		response acquirer.Response
		err      error
		want     payment.NoEffect
	}{
		{err: acquirer.ErrUnavailable, want: payment.NotTaken},
		{err: fmt.Errorf("the login: %w", acquirer.ErrUnavailable), want: payment.NotTaken},
		{err: acquirer.ErrUnknown},
		{err: acquirer.ErrNotFound},
		{err: acquirer.ErrUndecided},
		{err: context.DeadlineExceeded},
		{response: released, err: acquirer.ErrUnknown},
		{response: decline, err: acquirer.ErrUnknown},
		{response: decline, want: payment.Retryable},
		{response: approvedFirst},
		{response: acquirer.Response{DeclineCode: "do_not_honor"}},
		{response: released, want: payment.Reversed},
		{response: part},
		{response: acquirer.Response{Approved: true, Amount: 100, Retryable: true}},
	} {
		if got := engine.NoEffect(c.response, c.err); got != c.want {
			t.Errorf("%+v, %v: got %q, want %q", c.response, c.err, got, c.want)
		}
	}
}

// TestFailoverOnProof: the attempt at the first account has certainly no effect. The payment is at
// the second account before that gets the request. All later steps are there.
func TestFailoverOnProof(t *testing.T) {
	t.Parallel()
	onEachProof(t, func(t *testing.T, st step, proof string) {
		t.Helper()
		s, second, txn := st.mustOpenTwo(t)
		first := s.Acquirer
		proofs[proof](first)
		second.Before = func(_ context.Context, c coretest.Call) error {
			if got := MustTransaction(t, s); c.Verb == coretest.Authorize && (got.Account != otherAccount || got.Tag == "" || got.VoidTag != "") { //nolint:contextcheck // the test's
				t.Errorf("at the request: got account %d, tags %q and %q", got.Account, got.Tag, got.VoidTag)
			}
			return nil
		}
		if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != st.success {
			t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
		}
		s.Acquirer = second
		st.wantDone(t, s)
		if got, want := attempts(t, s), fmt.Sprintf("[1 %d tag_1 %s]", int64(coretest.LiveAccount), proof); got != want {
			t.Errorf("attempts: got %s, want %s", got, want)
		}
		st.wantResponse(t, s, st.success, true)
		if a, err := s.Engine.Void(t.Context(), s.Request(""), MustTransaction(t, s).ID, nil); err != nil || a.Status != 200 {
			t.Errorf("void: got %d %s, %v", a.Status, a.Body, err)
		}
		if got := second.HeldInAll(); got != 0 || first.HeldInAll() != 0 {
			t.Errorf("held: got %d, and %d at the first account", got, first.HeldInAll())
		}
	})
}

// TestTheFirstAccountDecides: the second account does not take the payment either. So the payment
// ends as the first account has decided, and both attempts are recorded.
func TestTheFirstAccountDecides(t *testing.T) {
	t.Parallel()
	for _, st := range paymentSteps() {
		for proof, code := range map[string]string{"declined": "processing_error", "reversed": "insufficient_funds"} {
			for _, killed := range []bool{false, true} {
				t.Run(fmt.Sprint(st.name, " ", proof, " ", killed), func(t *testing.T) {
					t.Parallel()
					s, second, txn := st.mustOpenTwo(t)
					proofs[proof](s.Acquirer)
					proofs["unavailable"](second)
					want, end := 402, func() {}
					if killed { // before the outcome
						want, end = 504, s.MustRefuse(t, "INSERT", "events", "NEW.id > 0")
					}
					if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != want {
						t.Fatalf("got %d %s, %v, want %d", a.Status, a.Body, err, want)
					}
					end()
					s.Recover(t)
					got, at := MustTransaction(t, s), int64(coretest.LiveAccount)
					if got.Status == payment.RequiresConfirmation {
						at = 0
					}
					if got.Account != at || got.Result.DeclineCode != code {
						t.Errorf("got %s at %d, %q", got.Status, got.Account, got.Result.DeclineCode)
					}
					both := fmt.Sprintf("[1 %d tag_1 %s 2 %d tag_1 unavailable]",
						int64(coretest.LiveAccount), proof, int64(otherAccount))
					if got := attempts(t, s); got != both {
						t.Errorf("attempts: got %s, want %s", got, both)
					}
					wantSettledBooks(t, s)
					st.wantResponse(t, s, 402, true)
					if got := s.Acquirer.HeldInAll(); got != 0 {
						t.Errorf("held: got %d", got)
					}
				})
			}
		}
	}
}

// TestPartThatIsNotReleased: the release of a part has no response or is refused, so the second
// account gets nothing. No request for the release was sent either, in the first case.
func TestPartThatIsNotReleased(t *testing.T) {
	t.Parallel()
	for _, st := range paymentSteps() {
		for _, why := range []error{acquirer.ErrUnavailable, acquirer.ErrUnknown, nil} {
			t.Run(fmt.Sprint(st.name, " ", why), func(t *testing.T) {
				t.Parallel()
				s, second, txn := st.mustOpenTwo(t)
				second.Before = func(_ context.Context, c coretest.Call) error {
					t.Errorf("the second account got %+v", c)
					return acquirer.ErrUnknown
				}
				approving(s, 40)
				want := 504
				s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
					if c.Verb == coretest.Void {
						return why
					}
					return nil
				}
				if why == nil {
					want = 402
					s.Acquirer.Decide = func(c coretest.Call) string {
						return map[coretest.Verb]string{coretest.Void: "do_not_honor"}[c.Verb]
					}
				}
				if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != want {
					t.Fatalf("got %d %s, %v, want %d", a.Status, a.Body, err, want)
				}
				heal(s)
				s.Recover(t)
				lookUntilTheEnd(t, s)
				if got := s.Acquirer.HeldInAll(); got != 0 || MustTransaction(t, s).Result.DeclineCode != "insufficient_funds" {
					t.Errorf("held: got %d, %+v", got, MustTransaction(t, s).Result)
				}
				if got := attempts(t, s); got != "[]" {
					t.Errorf("attempts: got %s", got)
				}
			})
		}
	}
}

// TestFailoverCountsAttempts: both attempts count for the network. The second one is not made if
// the rule does not allow it, and then the first decline stands.
func TestFailoverCountsAttempts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, advice string
		before       int // earlier declines of 10
		second       bool
		counted      int64
	}{
		{"within the limit", "02", 8, true, 10},
		{"at the limit", "02", 9, false, 10},
		{"no attempt is allowed", "03", 0, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			declining(s, "51", "02")
			for range c.before {
				payByCard(t, s, "", "mastercard", 100)
			}
			second := s.AddAccount(t, otherAccount)
			second.Decide = func(coretest.Call) string { return "do_not_honor" }
			second.Network = acquirer.NetworkDecline{Given: true, Code: "51"}
			proofs["declined"](s.Acquirer)
			s.Acquirer.Network.Advice = c.advice
			want := "processing_error"
			if c.second {
				want = "do_not_honor"
			}
			if status, code := payByCard(t, s, "", "mastercard", 100); status != 402 || code != want {
				t.Errorf("got %d %s, want %s", status, code, want)
			}
			if got := len(second.Payments()) == 1; got != c.second {
				t.Errorf("the second account got the payment: %t, want %t", got, c.second)
			}
			if n := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != c.counted {
				t.Errorf("got %d attempts, want %d", n, c.counted)
			}
			if _, code := payByCard(t, s, "", "mastercard", 100); code != "retry_not_allowed" {
				t.Errorf("the next payment: got %s", code)
			}
		})
	}
}

// TestFailoverAfterADecline: an approval of the second account ends the count of the attempts. A
// request that no account got counts nowhere.
func TestFailoverAfterADecline(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	second := s.AddAccount(t, otherAccount)
	proofs["declined"](s.Acquirer)
	proofs["unavailable"](second)
	for want := range int64(2) {
		if status, code := payByCard(t, s, "", "visa", 100); status != 402 || code != "processing_error" {
			t.Errorf("got %d %s", status, code)
		}
		if n := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != want+1 {
			t.Errorf("got %d attempts, want %d", n, want+1)
		}
	}
	heal(s)
	proofs["unavailable"](s.Acquirer)
	if status, code := payByCard(t, s, "", "visa", 100); status != 0 || !strings.Contains(code, "unavailable") {
		t.Errorf("got %d %s, want an error", status, code)
	}
	if n := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != 2 {
		t.Errorf("got %d attempts, want 2", n)
	}
	second.Before = nil
	if status, code := payByCard(t, s, "", "visa", 100); status != 201 {
		t.Errorf("got %d %s", status, code)
	}
	if n := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != 0 {
		t.Errorf("got %d attempts after an approval", n)
	}
}

// TestReleasedPartEndsNoCount: an approval of a part that was released does not end the count of
// the attempts at the card.
func TestReleasedPartEndsNoCount(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	declining(s, "51", "")
	payByCard(t, s, "", "visa", 100)
	heal(s)
	second := s.AddAccount(t, otherAccount)
	proofs["reversed"](s.Acquirer)
	second.Decide = func(coretest.Call) string { return "do_not_honor" }
	second.Network = acquirer.NetworkDecline{Given: true, Code: "51"}
	if status, code := payByCard(t, s, "", "visa", 100); status != 402 || code != "do_not_honor" {
		t.Errorf("got %d %s", status, code)
	}
	if n := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != 2 {
		t.Errorf("got %d attempts, want 2", n)
	}
}

// TestFailoverAfterADeclinePostgreSQL: the same store commands on the other engine. An attempt of
// each account counts, and an approval ends the count.
func TestFailoverAfterADeclinePostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	s.Tenant.Live = true
	s.Accounts.Add(coretest.LiveAccount, s.Acquirer)
	second := s.AddAccount(t, otherAccount)
	proofs["declined"](s.Acquirer)
	proofs["declined"](second)
	for _, c := range []struct {
		status  int
		counted int64
	}{{402, 2}, {201, 0}} {
		if status, code := payByCard(t, s, "", "visa", 100); status != c.status {
			t.Errorf("got %d %s, want %d", status, code, c.status)
		}
		if n := s.Number(t, "SELECT COUNT(*) FROM card_attempts"); n != c.counted {
			t.Errorf("got %d attempts at the card, want %d", n, c.counted)
		}
		second.Decide = nil
	}
	if n := s.Number(t, "SELECT COUNT(*) FROM attempts WHERE class = 'declined' AND number = 1"); n != 2 {
		t.Errorf("got %d attempts without effect, want 2", n)
	}
}

// TestKilledBeforeFailover: the process dies when the first account has decided. Recovery inquires
// at the first account only.
func TestKilledBeforeFailover(t *testing.T) {
	t.Parallel()
	for _, st := range paymentSteps() {
		for proof, verb := range map[string]coretest.Verb{"declined": coretest.Authorize, "reversed": coretest.Void} {
			t.Run(st.name+" "+proof, func(t *testing.T) {
				t.Parallel()
				s, _, txn := st.mustOpenTwo(t)
				proofs[proof](s.Acquirer)
				var dir string
				s.Acquirer.After = func(_ context.Context, c coretest.Call) error {
					if c.Verb == verb {
						dir = s.Snapshot(t) //nolint:contextcheck // the test's
					}
					return nil
				}
				if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != st.success {
					t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
				}
				next := s.Revive(t, dir)
				next.Accounts.Of(otherAccount).Before = func(_ context.Context, c coretest.Call) error {
					t.Errorf("the second account got %+v", c)
					return acquirer.ErrUnknown
				}
				if open := next.Recover(t); open != 0 {
					t.Fatalf("%d stay open", open)
				}
				if got := attempts(t, next); got != "[]" {
					t.Errorf("attempts: got %s", got)
				}
				if proof == "reversed" {
					wantPartReversed(t, next, 40)
				}
				st.wantResponse(t, next, 402, true)
			})
		}
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
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			onEachProof(t, func(t *testing.T, st step, proof string) {
				t.Helper()
				s, second, txn := st.mustOpenTwo(t)
				proofs[proof](s.Acquirer)
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
		})
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

func (m *moving) Account(ctx context.Context, merchant, id int64) (acquirer.Account, error) {
	m.move()
	return m.Accounts.Account(ctx, merchant, id)
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
