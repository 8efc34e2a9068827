package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// closings returns the ways in which a payment of 100 is closed because an inquiry did not find it.
// Each returns the service after that.
func closings() map[string]func(*testing.T) *coretest.Service {
	unknown := func(t *testing.T, s *coretest.Service, key string) {
		t.Helper()
		lose(s, coretest.Authorize, false, nil)
		if a, err := s.Pay(t.Context(), s.Request(key), 100, true); err != nil || a.Status != 504 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
		heal(s)
	}
	return map[string]func(*testing.T) *coretest.Service{
		"failed": func(t *testing.T) *coretest.Service {
			t.Helper()
			s := coretest.Open(t)
			unknown(t, s, "")
			return s
		},
		"taken back": func(t *testing.T) *coretest.Service {
			t.Helper()
			return steps()[1].MustDie(t, coretest.Open(t), "k", false)
		},
		"failed confirmation": func(t *testing.T) *coretest.Service {
			t.Helper()
			s := coretest.Open(t)
			txn := MustWait(t, s)
			lose(s, coretest.Authorize, false, nil)
			if a, err := s.Confirm(t.Context(), s.Request("k"), txn); err != nil || a.Status != 504 {
				t.Fatalf("got %d, %v", a.Status, err)
			}
			heal(s)
			return s
		},
	}
}

// reference returns the acquirer's reference of the only open payment.
func reference(t *testing.T, s *coretest.Service) string {
	t.Helper()
	if a := s.Acquirer.Calls(coretest.Void); len(a) > 0 {
		return a[0].Authorization
	}
	s.Recover(t)
	return s.Acquirer.Calls(coretest.Void)[0].Authorization
}

// arrive makes the acquirer process a request of 100 that the inquiry did not find.
func arrive(t *testing.T, s *coretest.Service, reference string) {
	t.Helper()
	if a, err := s.Acquirer.Authorize(t.Context(), acquirer.Authorize{Reference: reference, Amount: 100}); err != nil || !a.Approved {
		t.Errorf("arrive: got %+v, %v", a, err)
	}
}

// look advances the clock to the next due reversal and runs recovery. It returns false if there is
// no reversal.
func look(t *testing.T, s *coretest.Service) bool {
	t.Helper()
	due := s.Number(t, "SELECT COALESCE(MIN(due_at), 0) FROM reversals")
	if due == 0 {
		return false
	}
	s.Clock.Advance(max(0, time.UnixMilli(due).Sub(s.Clock.Now())))
	if s.Cluster != nil {
		MustHeartbeat(t, s) // on a busy machine its leadership has ended
	}
	s.Recover(t)
	return true
}

// wantAllReleased runs recovery until no reversal is pending, and checks that the acquirer holds
// only the amounts that v1 shows.
func wantAllReleased(t *testing.T, s *coretest.Service) {
	t.Helper()
	for n := 0; look(t, s); n++ {
		if n == 1000 {
			t.Fatal("there is no end to it")
		}
	}
	shown := s.Number(t, "SELECT COALESCE(SUM(amount_authorized), 0) FROM transactions WHERE status <> 'voided'")
	if got := s.Acquirer.HeldInAll(); got != shown {
		t.Errorf("held: got %d, want %d", got, shown)
	}
	wantSettledBooks(t, s)
}

// TestLateApproval: the acquirer approves a closed payment after some inquiries.
func TestLateApproval(t *testing.T) {
	t.Parallel()
	for name, closing := range closings() {
		for _, after := range []int{0, 1, 2, 5, 13} {
			t.Run(fmt.Sprint(name, " ", after), func(t *testing.T) {
				t.Parallel()
				s := closing(t)
				if open := s.Recover(t); open != 0 {
					t.Fatalf("%d stay open", open)
				}
				ref := reference(t, s)
				for range after {
					look(t, s)
				}
				arrive(t, s, ref)
				look(t, s)
				if got := s.Acquirer.Held(ref); got != 0 {
					t.Errorf("held: got %d, want nothing", got)
				}
				if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 0 {
					t.Error("it is still looked for")
				}
				wantAllReleased(t, s)
			})
		}
	}
}

// TestNothingArrives: core inquires about a closed payment at growing intervals, for one day.
func TestNothingArrives(t *testing.T) {
	t.Parallel()
	s := closings()["failed"](t)
	s.Recover(t)
	requested := s.Clock.Now()
	before := len(s.Acquirer.Calls(coretest.Inquire))
	wantAllReleased(t, s)
	if got := s.Clock.Now().Sub(requested); got != payment.LateWindow {
		t.Errorf("looked for until %s, want %s", got, payment.LateWindow)
	}
	if got := len(s.Acquirer.Calls(coretest.Inquire)) - before; got != 33 {
		t.Errorf("inquired %d times, want 33", got)
	}
	if got := len(s.Acquirer.Calls(coretest.Void)); got != 1 {
		t.Errorf("requested the release %d times, want once", got)
	}
}

// TestKilledWhileReleasing: the process dies at each request to the acquirer, before or after its
// effect. The payment's request arrives after the drop request.
func TestKilledWhileReleasing(t *testing.T) {
	t.Parallel()
	deaths := []struct {
		verb  coretest.Verb
		nth   int
		after bool
	}{
		{coretest.Inquire, 1, false},
		{coretest.Inquire, 2, false},
		{coretest.Void, 1, false},
		{coretest.Void, 1, true},
		{coretest.Inquire, 3, false},
		{coretest.Void, 2, false},
		{coretest.Void, 2, true},
	}
	for name, closing := range closings() {
		for _, d := range deaths {
			t.Run(fmt.Sprint(name, " ", d), func(t *testing.T) {
				t.Parallel()
				s := closing(t)
				dir, asked, arrived := "", 0, false
				die := func(_ context.Context, c coretest.Call) error {
					if c.Verb != d.verb {
						return nil
					}
					if asked++; asked != d.nth {
						return nil
					}
					dir = s.Snapshot(t) //nolint:contextcheck // it is the test's, whose the snapshot is
					return acquirer.ErrUnknown
				}
				s.Acquirer.Before = die
				if d.after {
					s.Acquirer.Before = nil
				}
				s.Acquirer.After = func(ctx context.Context, c coretest.Call) error {
					if c.Verb == coretest.Void && !arrived {
						arrived = true
						arrive(t, s, c.Authorization) //nolint:contextcheck // it is another request's arrival
					}
					if !d.after {
						return nil
					}
					return die(ctx, c)
				}
				for s.Recover(t); dir == ""; look(t, s) {
					if asked > d.nth {
						t.Fatal("it did not die")
					}
				}
				s = s.Revive(t, dir)
				s.Recover(t)
				if !arrived {
					arrive(t, s, s.Acquirer.Calls(coretest.Void)[0].Authorization)
				}
				wantAllReleased(t, s)
			})
		}
	}
}

// TestTwoRecoveriesAtOnce: two recoveries work on the same payments and reversals.
func TestTwoRecoveriesAtOnce(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	for round := range 30 {
		arrives := round%2 == 0
		lose(s, coretest.Authorize, round%3 == 0, nil)
		if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 504 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
		heal(s)
		both := func() {
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					if err := s.Engine.NewRecovery().CatchUp(t.Context(), time.Minute); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		}
		both()
		if voids := s.Acquirer.Calls(coretest.Void); arrives && len(voids) > 0 {
			arrive(t, s, voids[len(voids)-1].Authorization)
		}
		s.Clock.Advance(10 * time.Second)
		both()
	}
	wantAllReleased(t, s)
}

// TestAcquirerIsDownForLong: the day in which an approval may arrive late begins with the request
// to the acquirer.
func TestAcquirerIsDownForLong(t *testing.T) {
	t.Parallel()
	s := closings()["failed"](t)
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		if c.Verb == coretest.Void {
			return acquirer.ErrUnavailable
		}
		return nil
	}
	s.Recover(t)
	ref := s.Acquirer.Calls(coretest.Inquire)[0].Reference
	for range 72 {
		s.Clock.Advance(time.Hour)
		s.Recover(t)
	}
	heal(s)
	s.Recover(t)
	for range 10 {
		look(t, s)
	}
	arrive(t, s, ref)
	s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
	for range 72 {
		s.Clock.Advance(time.Hour)
		s.Recover(t)
	}
	if got := s.Acquirer.Held(ref); got != 100 {
		t.Errorf("held: got %d, want 100", got)
	}
	heal(s)
	s.Recover(t)
	if got := s.Acquirer.Held(ref); got != 0 {
		t.Errorf("held: got %d, want nothing", got)
	}
	wantAllReleased(t, s)
}

// TestReleasedIsNotTaken: if a payment is open in the store, but the acquirer has released it, the
// merchant gets no money.
func TestReleasedIsNotTaken(t *testing.T) {
	t.Parallel()
	s := steps()[1].MustDie(t, coretest.Open(t), "", true)
	ref := id.Format(id.Transaction, MustTransaction(t, s).ID)
	if a, err := s.Acquirer.Void(t.Context(), acquirer.Follow{Reference: "elsewhere", Original: acquirer.Sent{Reference: ref}, Amount: 100}); err != nil || !a.Approved {
		t.Fatalf("got %+v, %v", a, err)
	}
	if open := s.Recover(t); open != 0 {
		t.Fatalf("%d stay open", open)
	}
	if got := MustTransaction(t, s); got.Status != payment.Failed || got.Authorized != 0 {
		t.Errorf("got %s authorized %d, want failed", got.Status, got.Authorized)
	}
	wantAllReleased(t, s)
}
