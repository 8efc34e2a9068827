package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// mustExpire runs one pass of the expiry, which must end the given number of payments.
func mustExpire(t *testing.T, s *coretest.Service, want int) {
	t.Helper()
	if got, err := s.Engine.ExpireDue(t.Context()); err != nil || got != want {
		t.Fatalf("expired: got %d, %v, want %d", got, err, want)
	}
}

// TestWaitingLapses: a transaction that waits to be confirmed is canceled exactly 24 hours after
// its creation. One event gives the reason, and no client can confirm the transaction any more.
func TestWaitingLapses(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	txn := MustWait(t, s)
	s.Clock.Advance(24*time.Hour - time.Millisecond)
	mustExpire(t, s, 0)
	s.Clock.Advance(time.Millisecond)
	mustExpire(t, s, 1)
	mustExpire(t, s, 0)
	got := MustTransaction(t, s)
	if got.Status != payment.Canceled || got.Version != 1 || got.Result.FailureCode != "not_confirmed" || got.Result.Reached {
		t.Errorf("got %s version %d, %+v", got.Status, got.Version, got.Result)
	}
	event := s.Texts(t, "SELECT type || ' ' || data FROM events")
	if len(event) != 1 || !strings.HasPrefix(event[0], "transaction.canceled ") || !strings.Contains(event[0], `"failure":{"code":"not_confirmed"`) {
		t.Errorf("got %v", event)
	}
	if a, err := s.Confirm(t.Context(), s.Request("k"), txn); err != nil || a.Status != 409 {
		t.Errorf("confirm: got %d, %v: %s", a.Status, err, a.Body)
	}
	if calls := s.Acquirer.Calls(coretest.Authorize); len(calls) != 0 {
		t.Errorf("the acquirer got requests: %v", calls)
	}
	wantSettledBooks(t, s)
}

// TestManyLapse: one pass ends more transactions than one commit can.
func TestManyLapse(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	for range 120 {
		if a, err := s.Prepare(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
	}
	mustPay(t, s, true)
	s.Clock.Advance(24 * time.Hour)
	mustExpire(t, s, 120)
	wantSettledBooks(t, s)
}

// TestWaitingLapsesByTheTestClock: a waiting transaction lapses by the test clock that moves, and a
// later one gets its full time.
func TestWaitingLapsesByTheTestClock(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	advance := func(by time.Duration) {
		if a, err := s.Engine.AdvanceTestClock(t.Context(), s.Request(""), by); err != nil || a.Status != 200 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
	}
	old := MustWait(t, s)
	advance(24*time.Hour - time.Millisecond)
	if got := mustTransaction(t, s, old).Status; got != payment.RequiresConfirmation {
		t.Errorf("a millisecond before: got %s", got)
	}
	if a, err := s.Prepare(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	young := s.Number(t, "SELECT MAX(id) FROM transactions")
	advance(time.Millisecond)
	if got := mustTransaction(t, s, old).Status; got != payment.Canceled {
		t.Errorf("got %s, want canceled", got)
	}
	advance(24*time.Hour - 2*time.Millisecond)
	if got := mustTransaction(t, s, young).Status; got != payment.RequiresConfirmation {
		t.Errorf("made later: got %s", got)
	}
	mustExpire(t, s, 0)
	advance(time.Millisecond)
	if got := mustTransaction(t, s, young).Status; got != payment.Canceled {
		t.Errorf("made later, in its time: got %s, want canceled", got)
	}
}

// TestConfirmedDoesNotLapse: a confirmed transaction has the expiry of its authorization, or none.
// If its confirmations were withdrawn and declined, it lapses when its time is over.
func TestConfirmedDoesNotLapse(t *testing.T) {
	t.Parallel()
	for _, capture := range []bool{false, true} {
		s := coretest.Open(t)
		if a, err := s.Prepare(t.Context(), s.Request(""), 100, capture); err != nil || a.Status != 201 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
		txn := s.Number(t, "SELECT id FROM transactions")
		if a, err := s.Confirm(t.Context(), s.Request(""), txn); err != nil || a.Status != 200 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
		s.Clock.Advance(7*24*time.Hour - time.Second)
		mustExpire(t, s, 0)
		if got, want := s.Number(t, "SELECT expires_at FROM transactions") == 0, capture; got != want {
			t.Errorf("never: got %t, want %t", got, want)
		}
	}
	s := coretest.Open(t)
	txn := MustWait(t, s)
	s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
	if _, err := s.Confirm(t.Context(), s.Request(""), txn); !errors.Is(err, engine.ErrAcquirerUnavailable) {
		t.Fatalf("got %v, want %v", err, engine.ErrAcquirerUnavailable)
	}
	heal(s)
	declineConfirmations(s)
	if a, err := s.Confirm(t.Context(), s.Request(""), txn); err != nil || a.Status != 402 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	s.Clock.Advance(24*time.Hour - time.Millisecond)
	mustExpire(t, s, 0)
	s.Clock.Advance(time.Millisecond)
	mustExpire(t, s, 1)
	if got := MustTransaction(t, s); got.Status != payment.Canceled || got.Version != 2 {
		t.Errorf("waiting again: got %s version %d, want canceled", got.Status, got.Version)
	}
	wantSettledBooks(t, s)
}

// TestConfirmAgainstLapse: of a confirmation and a concurrent lapse, exactly one takes place.
func TestConfirmAgainstLapse(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	confirmed := 0
	for range raceRounds {
		if a, err := s.Prepare(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
		txn := s.Number(t, "SELECT MAX(id) FROM transactions")
		s.Clock.Advance(24 * time.Hour)
		var (
			result              engine.Result
			lapsed              int
			confirmErr, passErr error
			both                sync.WaitGroup
		)
		both.Go(func() { result, confirmErr = s.Confirm(t.Context(), s.Request(""), txn) })
		both.Go(func() { lapsed, passErr = s.Engine.ExpireDue(t.Context()) })
		both.Wait()
		if err := errors.Join(confirmErr, passErr); err != nil {
			t.Fatal(err)
		}
		got := mustTransaction(t, s, txn)
		status, want := 200, payment.Captured
		if lapsed == 1 {
			status, want = 409, payment.Canceled
		}
		if result.Status != status || got.Status != want || got.Version != 1 {
			t.Fatalf("got %d and %d lapsed, %s version %d", result.Status, lapsed, got.Status, got.Version)
		}
		confirmed += 1 - lapsed
	}
	if got, want := s.Acquirer.Moved(coretest.Authorize), int64(100*confirmed); got != want {
		t.Errorf("moved: got %d, want %d", got, want)
	}
	t.Logf("%d were confirmed, %d lapsed", confirmed, raceRounds-confirmed)
	wantSettledBooks(t, s)
}
