package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// mustChange changes a transaction, and returns the result.
func mustChange(t *testing.T, s *coretest.Service, key string, txn, amount int64, description string) engine.Result {
	t.Helper()
	a, err := s.Change(t.Context(), s.Request(key), txn, amount, description)
	if err != nil || a.Status != 200 {
		t.Fatalf("change: got %d %s, %v", a.Status, a.Body, err)
	}
	return a
}

// TestChangeAroundAConfirmation: a change before the intent of a confirmation makes the client try
// again, and a change after it is refused. The acquirer gets the amount that was confirmed.
func TestChangeAroundAConfirmation(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	txn := MustWait(t, s)
	read, err := s.DB.Transaction(t.Context(), s.Tenant, txn)
	if err != nil {
		t.Fatal(err)
	}
	confirm := func(amount int64) engine.Result {
		t.Helper()
		a, err := s.Engine.Confirm(t.Context(), s.Request(""), read, engine.Payment{
			Amount: amount, Currency: "usd", PaymentMethod: "pm_card_visa", Details: []byte("{}"),
		})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	mustChange(t, s, "", txn, 70, "after the read")
	for amount, want := range map[int64]string{100: payment.TransactionChanged, 70: payment.OperationInProgress} {
		if a := confirm(amount); a.Status != 409 || !strings.Contains(string(a.Body), want) {
			t.Errorf("%d: got %d %s, want %s", amount, a.Status, a.Body, want)
		}
	}
	s.Acquirer.Before = func(ctx context.Context, c coretest.Call) error {
		if c.Amount != 70 {
			t.Errorf("the acquirer was asked for %d, want 70", c.Amount)
		}
		if a, err := s.Change(ctx, s.Request(""), txn, 0, "during"); err != nil || a.Status != 409 || !strings.Contains(string(a.Body), payment.OperationInProgress) {
			t.Errorf("during the confirmation: got %d %s, %v", a.Status, a.Body, err)
		}
		return nil
	}
	if a, err := s.ConfirmOf(t.Context(), s.Request(""), txn, 70, "usd"); err != nil || a.Status != 200 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	if got := MustTransaction(t, s); got.Captured != 70 || got.Version != 2 {
		t.Errorf("captured %d version %d, want 70 version 2", got.Captured, got.Version)
	}
	wantSettledBooks(t, s)
}

// TestChangeOfAnUnknownPayment: a merchant changes a payment between recovery's read and its
// commit. The outcome is written by the next attempt, after the change.
func TestChangeOfAnUnknownPayment(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		s := coretest.Open(t)
		lose(s, coretest.Authorize, after, nil)
		if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
			t.Fatalf("got %d, %v, want 504", a.Status, err)
		}
		heal(s)
		txn := s.Number(t, "SELECT id FROM transactions")
		changed := false
		s.Acquirer.Before = func(ctx context.Context, c coretest.Call) error {
			if c.Verb != coretest.Inquire || changed {
				return nil
			}
			changed = true
			a, err := s.Change(ctx, s.Request(""), txn, 0, "changed")
			if err != nil || a.Status != 200 {
				t.Errorf("change: got %d %s, %v", a.Status, a.Body, err)
			}
			return nil
		}
		if open := s.Recover(t); open != 0 {
			t.Fatalf("after the effect %t: %d stay open", after, open)
		}
		want := map[bool]payment.Status{false: payment.Failed, true: payment.Captured}[after]
		if got := MustTransaction(t, s); got.Status != want || got.Version != 2 || !strings.Contains(string(got.Details), "changed") {
			t.Errorf("got %s version %d %s, want %s", got.Status, got.Version, got.Details, want)
		}
		for _, shown := range s.Texts(t, "SELECT data FROM events") {
			if !strings.Contains(shown, "changed") {
				t.Errorf("an event does not show the change: %s", shown)
			}
		}
		wantSettledBooks(t, s)
	}
}

// TestChangeThatDies: the process ends in the commit of a change. Nothing has changed, the key is
// free, and the retry changes the transaction once.
func TestChangeThatDies(t *testing.T) {
	t.Parallel()
	first := coretest.Open(t)
	txn := MustWait(t, first)
	died := errors.New("the process ends here")
	_, err := first.Engine.ChangeTransaction(t.Context(), first.Request("k"), txn, engine.TransactionChange{
		Apply: func(p *payment.Transaction) error { p.Amount = 70; return died },
	})
	if !errors.Is(err, died) {
		t.Fatalf("got %v, want %v", err, died)
	}
	s := first.Revive(t, first.Snapshot(t))
	if got := MustTransaction(t, s); got.Amount != 100 || got.Version != 0 {
		t.Errorf("got %d version %d, want it as before", got.Amount, got.Version)
	}
	once := mustChange(t, s, "k", txn, 70, "x")
	mustChange(t, s, "l", txn, 90, "y")
	again := mustChange(t, s, "k", txn, 70, "x")
	if got := MustTransaction(t, s); !again.Replayed || string(again.Body) != string(once.Body) || got.Amount != 90 {
		t.Errorf("again: replayed %t, %s, amount %d", again.Replayed, again.Body, got.Amount)
	}
	wantSettledBooks(t, s)
}

// TestChangeAfterTheErasure: data that a merchant adds after the erasure is erased later, and so is
// its event.
func TestChangeAfterTheErasure(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	MustPayPersonal(t, s, 1)
	txn := s.Number(t, "SELECT id FROM transactions")
	erase := func() {
		t.Helper()
		s.Clock.Advance(keptAge)
		if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), keptDays, impersonal); err != nil {
			t.Fatal(err)
		}
		if _, err := s.DB.ErasePersonalEvents(t.Context(), s.Clock.Now(), impersonal); err != nil {
			t.Fatal(err)
		}
	}
	erase()
	mustChange(t, s, "", txn, 0, "Erika")
	if got := personalRows(t, s); got != 1 {
		t.Errorf("got %d rows with personal data after the change, want 1", got)
	}
	erase()
	if got := personalRows(t, s); got != 0 {
		t.Errorf("got %d rows with personal data at the end", got)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%'"); got != 0 {
		t.Errorf("got %d events with personal data at the end", got)
	}
}

// TestDeclinedConfirmationKilled: the process dies after the acquirer's decline and before the
// commit. Recovery finds the decline, and the transaction waits again. The key has the decline.
func TestDeclinedConfirmationKilled(t *testing.T) {
	t.Parallel()
	first := coretest.Open(t)
	txn := MustWait(t, first)
	declineConfirmations(first)
	var dir string
	lose(first, coretest.Authorize, true, func() { dir = first.Snapshot(t) })
	if a, err := first.Confirm(t.Context(), first.Request("k"), txn); err != nil || a.Status != 504 {
		t.Fatalf("got %d, %v, want 504", a.Status, err)
	}
	s := first.Revive(t, dir)
	if got := s.Recover(t); got != 0 {
		t.Fatalf("%d stay open", got)
	}
	got := MustTransaction(t, s)
	if got.Status != payment.RequiresConfirmation || got.Attempt != 2 || got.DeclinedConfirmations != 1 || got.Version != 1 ||
		got.PaymentMethod != "" || string(got.Details) != "{}" {
		t.Errorf("got %+v, want it to wait again", got)
	}
	if a, err := s.Confirm(t.Context(), s.Request("k"), txn); err != nil || a.Status != 402 || !a.Replayed {
		t.Errorf("again: got %d replayed %t, %v", a.Status, a.Replayed, err)
	}
	s.Acquirer.Decide = nil
	if a, err := s.Confirm(t.Context(), s.Request("l"), txn); err != nil || a.Status != 200 {
		t.Errorf("another: got %d, %v", a.Status, err)
	}
	wantSettledBooks(t, s)
}

// TestDeclineOfAnUnknownConfirmation: the client got 504, and recovery finds a decline. No other
// confirmation can follow.
func TestDeclineOfAnUnknownConfirmation(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	txn := MustWait(t, s)
	declineConfirmations(s)
	s.Acquirer.After = func(context.Context, coretest.Call) error { return acquirer.ErrUnknown }
	if a, err := s.Confirm(t.Context(), s.Request("k"), txn); err != nil || a.Status != 504 {
		t.Fatalf("got %d, %v, want 504", a.Status, err)
	}
	heal(s)
	if got := s.Recover(t); got != 0 {
		t.Fatalf("%d stay open", got)
	}
	if got := MustTransaction(t, s); got.Status != payment.Declined || got.Version != 1 {
		t.Errorf("got %s version %d, want declined", got.Status, got.Version)
	}
	if a, err := s.Confirm(t.Context(), s.Request(""), txn); err != nil || a.Status != 409 {
		t.Errorf("another: got %d, %v", a.Status, err)
	}
	if a, err := s.Confirm(t.Context(), s.Request("k"), txn); err != nil || a.Status != 402 || !a.Replayed {
		t.Errorf("again: got %d replayed %t, %v", a.Status, a.Replayed, err)
	}
	wantSettledBooks(t, s)
}

// TestChangeDelaysNoStep: a change of an unknown payment, or during a void, is no part of the step.
// It neither prolongs the authorization that an operator approves, nor delays that approval.
func TestChangeDelaysNoStep(t *testing.T) {
	t.Parallel()
	for _, verb := range []payment.StepKind{payment.AuthorizeStep, payment.VoidStep} {
		s := coretest.Open(t)
		r := serving(t, s)
		for _, st := range steps() {
			if payment.StepKind(st.verb) == verb {
				st.mustLoseOutcome(t, s, true)
				break
			}
		}
		s.Acquirer.Before = func(context.Context, coretest.Call) error { return errForGood }
		s.Clock.Advance(time.Second)
		pass(t, r, 1)
		u, f := mustUnfinished(t, s, verb)
		s.Clock.Advance(72 * time.Hour)
		mustChange(t, s, "c", u.Step.Transaction, 0, "changed")
		if after, _ := mustUnfinished(t, s, verb); !after.Since.Equal(u.Since) {
			t.Errorf("%s: the step began at %s, and after the change at %s", verb, u.Since, after.Since)
		}
		d := engine.Resolution{Decision: engine.DecisionApproved, Reason: "statement of November 22, line 7", AsOf: s.Clock.Now()}
		if a, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); err != nil || a.Status != 200 {
			t.Fatalf("%s: got %d %s, %v", verb, a.Status, a.Body, err)
		}
		got := MustTransaction(t, s)
		if !strings.Contains(string(got.Details), "changed") {
			t.Errorf("%s: got %s, want the change", verb, got.Details)
		}
		if until := u.Since.Add(payment.AuthorizationLifetime); verb == payment.AuthorizeStep && !got.Result.ExpiresAt.Equal(until) {
			t.Errorf("the authorization ends at %s, want %s", got.Result.ExpiresAt, until)
		}
	}
}
