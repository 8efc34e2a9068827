package engine_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// mustPay makes a payment of 100 and returns its number.
func mustPay(t *testing.T, s *coretest.Service, capture bool) int64 {
	t.Helper()
	a, err := s.Pay(t.Context(), s.Request(""), 100, capture)
	if err != nil || a.Status != 201 {
		t.Fatalf("pay: %d %s, %v", a.Status, a.Body, err)
	}
	return s.Number(t, "SELECT MAX(id) FROM transactions")
}

// mustSettle runs a pass, which must settle the given number of transactions.
func mustSettle(t *testing.T, s *coretest.Service, want int) {
	t.Helper()
	if got, err := s.Engine.SettleDue(t.Context()); err != nil || got != want {
		t.Errorf("settled: got %d, %v, want %d", got, err, want)
	}
}

func mustTransaction(t *testing.T, s *coretest.Service, id int64) *payment.Transaction {
	t.Helper()
	got, err := s.DB.Transaction(t.Context(), s.Tenant, id)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSettleDue(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t) // 09:30 UTC; days end at midnight
	for range 3 {
		mustPay(t, s, true)
	}
	held := mustPay(t, s, false)
	mustSettle(t, s, 0)
	s.Clock.Advance(14*time.Hour + 30*time.Minute) // midnight
	mustPay(t, s, true)                            // exactly then
	s.Clock.Advance(time.Second)
	late := mustPay(t, s, true)
	mustSettle(t, s, 4)
	mustSettle(t, s, 0)
	s.Clock.Advance(24 * time.Hour)
	if _, err := s.Engine.Capture(t.Context(), s.Request(""), held, 40, false, nil); err != nil {
		t.Fatal(err)
	}
	mustSettle(t, s, 1)
	if got := mustTransaction(t, s, late).Settlement(); got != payment.SettlementSettled {
		t.Errorf("captured after the last cut-off: got %s", got)
	}
	s.Clock.Advance(24 * time.Hour)
	mustSettle(t, s, 1) // part of held
	s.Clock.Advance(time.Hour)
	if _, err := s.Engine.Capture(t.Context(), s.Request(""), held, 60, false, nil); err != nil {
		t.Fatal(err)
	}
	if got := mustTransaction(t, s, held); got.Settlement() != payment.SettlementPending || got.Settled != 40 {
		t.Errorf("got %s with %d settled, want pending with 40", got.Settlement(), got.Settled)
	}
	s.Clock.Advance(24 * time.Hour)
	mustSettle(t, s, 1)
	wantSettledBooks(t, s)
}

// TestSettleable: a transaction with several captures is returned once, before transactions with
// newer captures. If there are more captures than the limit, the rest is reported. A transaction
// with a pending void is left out.
func TestSettleable(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	first := mustPay(t, s, false)
	sale := mustPay(t, s, true)
	for range 2 {
		s.Clock.Advance(time.Second)
		if _, err := s.Engine.Capture(t.Context(), s.Request(""), first, 40, false, nil); err != nil {
			t.Fatal(err)
		}
	}
	voided := mustPay(t, s, true)
	s.Database.MustExec(t, "UPDATE transactions SET operation = 'void' WHERE id = ?", voided)
	for limit, want := range map[int]struct {
		transactions []int64
		more         bool
	}{1: {[]int64{sale}, true}, 2: {[]int64{sale, first}, true}, 3: {[]int64{sale, first}, false}} {
		got, more, err := s.DB.Settleable(t.Context(), s.Tenant, limit)
		if err != nil || !slices.Equal(got, want.transactions) || more != want.more {
			t.Errorf("%d: got %v, %t, %v, want %v", limit, got, more, err, want)
		}
	}
}

// TestSettleDueWaitsForAVoid: settlement leaves a transaction with a pending void alone, and finds
// it again when the void is refused.
func TestSettleDueWaitsForAVoid(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	txn := mustPay(t, s, true)
	other := mustPay(t, s, true)
	lose(s, coretest.Void, false, nil)
	if a, err := s.Engine.Void(t.Context(), s.Request(""), txn, nil); err != nil || a.Status != 504 {
		t.Fatalf("void: got %d, %v", a.Status, err)
	}
	s.Clock.Advance(24 * time.Hour)
	mustSettle(t, s, 1)
	s.Clock.Advance(24 * time.Hour)
	heal(s)
	s.Acquirer.Decide = func(coretest.Call) string { return "processing_error" }
	if got := s.Recover(t); got != 0 {
		t.Fatalf("%d stay open", got)
	}
	mustSettle(t, s, 1) // the void was refused, so it settles after all
	if got := mustTransaction(t, s, txn); got.Settlement() != payment.SettlementSettled || got.Status != payment.Captured {
		t.Errorf("got %s %s", got.Status, got.Settlement())
	}
	if got := mustTransaction(t, s, other).Version; got != 2 {
		t.Errorf("version of the other: got %d, want 2", got)
	}
	wantSettledBooks(t, s)
}

// TestSettleDueAgain: a pass that dies between two commits is repeated, and settles no transaction
// twice.
func TestSettleDueAgain(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	for range 120 {
		mustPay(t, s, true)
	}
	s.Clock.Advance(24 * time.Hour)
	ctx, die := context.WithCancel(t.Context())
	s.DB.Observe(func(store.Batch) { die() }, nil) // at the first commit of the pass
	settled, err := s.Engine.SettleDue(ctx)
	if err == nil || settled < 1 || settled > 50 { // a commit on a slow machine settles fewer
		t.Fatalf("got %d, %v, want 1 to 50 settled and an error", settled, err)
	}
	next := s.Revive(t, s.Snapshot(t))
	mustSettle(t, next, 120-settled)
	mustSettle(t, next, 0)
	if got := next.Number(t, "SELECT COUNT(*) FROM events WHERE type = 'transaction.settled'"); got != 120 {
		t.Errorf("events: got %d, want 120", got)
	}
	wantSettledBooks(t, next)
}

// lapse lets the authorization of a transaction end now.
func lapse(t *testing.T, s *coretest.Service, txn int64) {
	t.Helper()
	err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.SetExpiry(s.Tenant, txn, s.Clock.Now()) })
	if err != nil {
		t.Fatal(err)
	}
}

// TestExpiryLeavesStepsAlone: a transaction with a step at the acquirer does not expire.
func TestExpiryLeavesStepsAlone(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	txn := mustPay(t, s, false)
	lapse(t, s, txn)
	lose(s, coretest.Capture, true, nil)
	if a, err := s.Engine.Capture(t.Context(), s.Request(""), txn, 40, false, nil); err != nil || a.Status != 504 {
		t.Fatalf("capture: got %d, %v", a.Status, err)
	}
	if got, err := s.Engine.ExpireDue(t.Context()); err != nil || got != 0 {
		t.Errorf("expired: got %d, %v, want none", got, err)
	}
	heal(s)
	if got := s.Recover(t); got != 0 {
		t.Fatalf("%d stay open", got)
	}
	if got, err := s.Engine.ExpireDue(t.Context()); err != nil || got != 1 {
		t.Errorf("expired: got %d, %v, want one", got, err)
	}
	if got := mustTransaction(t, s, txn); got.Status != payment.Captured || got.Captured != 40 || got.Capturable() != 0 {
		t.Errorf("got %s with %d captured, %d capturable", got.Status, got.Captured, got.Capturable())
	}
	wantSettledBooks(t, s)
}
