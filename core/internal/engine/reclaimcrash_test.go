package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
)

// TestKilledAfterAReclaim: recovery has marked a step, and the process dies before or after the
// step is sent again.
func TestKilledAfterAReclaim(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(st.name, " ", after), func(t *testing.T) {
				t.Parallel()
				s := st.MustDie(t, coretest.Open(t), "k", true)
				dir := ""
				die := func(context.Context, coretest.Call) error {
					if dir == "" {
						dir = s.Snapshot(t) //nolint:contextcheck // it is the test's
					}
					return acquirer.ErrUnknown
				}
				if s.Acquirer.Before = die; after && !st.authorizes() { // an inquiry has no effect
					s.Acquirer.Before, s.Acquirer.After = nil, die
				}
				s.Recover(t)
				s = s.Revive(t, dir)
				if got := s.Number(t, `SELECT (SELECT COUNT(*) FROM transactions WHERE reclaimed_at > 0)
					+ (SELECT COUNT(*) FROM captures WHERE reclaimed_at > 0) + (SELECT COUNT(*) FROM refunds WHERE reclaimed_at > 0)`); got != 1 {
					t.Errorf("%d steps are marked, want one", got)
				}
				if got := s.Recover(t); got != 0 {
					t.Errorf("%d stay open", got)
				}
				st.wantDone(t, s)
				st.wantResponse(t, s, st.success, true)
			})
		}
	}
}

// TestReclaimedVoidThenAnother: the mark of a refused void does not apply to the next void of the
// transaction.
func TestReclaimedVoidThenAnother(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	txn := mustPay(t, s, true)
	lose(s, coretest.Void, false, nil)
	if a, err := s.Engine.Void(t.Context(), s.Request("k"), txn, nil); err != nil || a.Status != 504 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	heal(s)
	s.Acquirer.Decide = func(coretest.Call) string { return "generic_decline" }
	s.Recover(t)
	s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
	if a, err := s.Engine.Void(t.Context(), s.Request("l"), txn, nil); !errors.Is(err, engine.ErrAcquirerUnavailable) {
		t.Errorf("got %d %s, %v, want that the acquirer is unavailable", a.Status, a.Body, err)
	}
	if open := s.Open(t); open != 0 {
		t.Errorf("%d are open", open)
	}
}

// TestKilledWhileLookedFor: the process dies at each request about an unlinked refund, before or
// after its effect. The refund arrives after core requested that the acquirer drop it.
func TestKilledWhileLookedFor(t *testing.T) {
	t.Parallel()
	for _, d := range []struct {
		verb  coretest.Verb
		nth   int
		after bool
	}{
		{coretest.Inquire, 1, false},
		{coretest.Inquire, 2, false},
		{coretest.Void, 1, false},
		{coretest.Void, 1, true},
		{coretest.Inquire, 3, false},
	} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			t.Parallel()
			s := MustOpenGiving(t)
			var sent coretest.Call
			dir, seen := "", 0
			die := func(_ context.Context, c coretest.Call) error {
				if c.Verb == coretest.Credit {
					sent = c
					return acquirer.ErrUnknown
				}
				if c.Verb != d.verb || dir != "" {
					return nil
				}
				if seen++; seen != d.nth {
					return nil
				}
				dir = s.Snapshot(t) //nolint:contextcheck // it is the test's
				return acquirer.ErrUnknown
			}
			s.Acquirer.Before = die
			if d.after {
				s.Acquirer.After = die
				s.Acquirer.Before = func(ctx context.Context, c coretest.Call) error {
					if c.Verb == coretest.Credit {
						return die(ctx, c)
					}
					return nil
				}
			}
			if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 504 {
				t.Fatalf("got %d, %v", a.Status, err)
			}
			for s.Recover(t); dir == ""; look(t, s) {
				if seen > d.nth {
					t.Fatal("it did not die")
				}
			}
			s = s.Revive(t, dir)
			s.Recover(t)
			wantPending(t, s, "k")
			process(t, s, sent)
			lookUntilTheEnd(t, s)
			wantGivenOnce(t, s)
		})
	}
}

// TestTwoRecoveriesOfUnlinkedRefunds: two recoveries work on the same refunds at the same time.
// Each refund is given once, whenever it arrives.
func TestTwoRecoveriesOfUnlinkedRefunds(t *testing.T) {
	t.Parallel()
	s := MustOpenGiving(t)
	both := func() {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { catchUp(t, s) })
		}
		wg.Wait()
	}
	const rounds = 20
	for round := range rounds {
		var sent coretest.Call
		s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
			if c.Verb == coretest.Credit {
				sent = c
				return acquirer.ErrUnknown
			}
			return nil
		}
		if a, err := give(t.Context(), s, fmt.Sprint(round), "card"); err != nil || a.Status != 504 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
		heal(s)
		if round%2 == 0 {
			both()
		}
		process(t, s, sent)
		s.Clock.Advance(10 * time.Second)
		both()
	}
	lookUntilTheEnd(t, s)
	if got := s.Number(t, "SELECT COUNT(*) FROM refunds WHERE state = 'succeeded'"); got != rounds {
		t.Errorf("%d succeeded, want %d", got, rounds)
	}
	if got := s.Acquirer.Moved(coretest.Credit); got != rounds*100 {
		t.Errorf("given: got %d, want %d", got, rounds*100)
	}
	wantSettledBooks(t, s)
}

// TestKeyOfALateOutcome: a payment whose outcome comes 30 hours late keeps its key for a day from
// then on, by either commit.
func TestKeyOfALateOutcome(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) *coretest.Service{"SQLite": coretest.Open, "batched": coretest.OpenShared, "alone": coretest.OpenAlone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			if s.Cluster != nil {
				MustHeartbeat(t, s)
			}
			if a, err := s.Pay(t.Context(), s.Request("before"), 1, true); err != nil || a.Status != 201 { // the store sees the endpoints
				t.Fatalf("got %d, %v", a.Status, err)
			}
			lose(s, coretest.Authorize, true, nil)
			if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
				t.Fatalf("got %d, %v", a.Status, err)
			}
			heal(s)
			s.Clock.Advance(30 * time.Hour)
			if open := s.Recover(t); open != 0 {
				t.Fatalf("%d stay open", open)
			}
			for _, later := range []time.Duration{time.Minute, 23 * time.Hour} {
				s.Clock.Advance(later)
				if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 201 || !a.Replayed {
					t.Errorf("%s later: got %d replayed %t, %v", later, a.Status, a.Replayed, err)
				}
			}
			if got := s.Acquirer.Moved(coretest.Authorize); got != 101 {
				t.Errorf("taken: got %d, want 101", got)
			}
			if got, want := s.Number(t, "SELECT expires_at - created_at FROM idempotency_keys WHERE key = 'before'"), (24 * time.Hour).Milliseconds(); got != want {
				t.Errorf("the lifetime of another key: got %d, want %d", got, want)
			}
		})
	}
}
