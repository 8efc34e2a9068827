package engine_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// serving returns the recovery of a service that has started with nothing open.
func serving(t *testing.T, s *coretest.Service) *engine.Recovery {
	t.Helper()
	r := s.Engine.NewRecovery()
	if err := r.CatchUp(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	return r
}

// recoversAll returns a hook for the acquirer that finishes all unfinished steps while a request
// waits there.
func recoversAll(t *testing.T, s *coretest.Service) func() {
	t.Helper()
	return func() {
		if open := s.Recover(t); open != 0 {
			t.Errorf("%d stay open", open)
		}
	}
}

// pass makes one pass, checks the number of its lanes, and waits for them.
func pass(t *testing.T, r *engine.Recovery, want int) {
	t.Helper()
	got, err := r.Pass(t.Context())
	if err != nil || got != want {
		t.Errorf("lanes: got %d, %v, want %d", got, err, want)
	}
	r.Wait()
}

// TestUnknownPaymentIsClaimedImmediately: once the client has its 504, recovery claims the payment
// without waiting for Patience.
func TestUnknownPaymentIsClaimedImmediately(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			r := serving(t, s)
			st.mustLoseOutcome(t, s, true)
			pass(t, r, 0)
			s.Clock.Advance(200 * time.Millisecond)
			pass(t, r, 1)
			st.wantDone(t, s)
			st.wantResponse(t, s, st.success, true)
			pass(t, r, 0)
		})
	}
}

// TestRunningRequestsAreLeftAlone: recovery claims no step on which a request works, for any
// duration of the request and any step of the clock. It claims the step once the request has left
// it open.
func TestRunningRequestsAreLeftAlone(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			r := serving(t, s)
			txn := st.MustPrepare(t, s)
			asked := 0
			later := func(by time.Duration, want int) { s.Clock.Advance(by); pass(t, r, want) }
			s.Acquirer.After = func(_ context.Context, c coretest.Call) error {
				if c.Verb != st.verb || asked > 0 {
					return nil
				}
				asked++
				for _, by := range []time.Duration{engine.Patience, 24 * time.Hour, -48 * time.Hour, time.Second} {
					later(by, 0)
				}
				return acquirer.ErrUnknown
			}
			if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != 504 {
				t.Fatalf("got %d, %v, want 504", a.Status, err)
			}
			later(time.Second, 1)
			st.wantDone(t, s)
		})
	}
}

// TestEarlierProcessesAreClaimedAtOnce: recovery claims the step of a killed process as soon as it
// reads the step. The clock was set back between the two.
func TestEarlierProcessesAreClaimedAtOnce(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := st.MustDie(t, coretest.Open(t), "k", true)
			s.Clock.Set(s.Clock.Now().Add(-time.Hour))
			r := s.Engine.NewRecovery()
			r.Serve()
			pass(t, r, 1)
			st.wantDone(t, s)
		})
	}
}

// TestStartDoesNotWaitForTheAcquirer: a service whose acquirer is unavailable starts. It finishes
// its open steps when the acquirer is back.
func TestStartDoesNotWaitForTheAcquirer(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := st.MustDie(t, coretest.Open(t), "k", true)
			s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
			r := serving(t, s)
			if got := s.Number(t, `SELECT COUNT(*) FROM idempotency_keys WHERE status = 0`); got != 1 {
				t.Errorf("keys that wait: got %d, want 1", got)
			}
			heal(s)
			s.Clock.Advance(time.Minute)
			pass(t, r, 1)
			st.wantDone(t, s)
			st.wantResponse(t, s, st.success, true)
		})
	}
}

func TestStartIsBounded(t *testing.T) {
	t.Parallel()
	s := steps()[1].MustDie(t, coretest.Open(t), "k", true)
	release := make(chan struct{})
	s.Acquirer.Before = func(context.Context, coretest.Call) error { <-release; return nil }
	r := s.Engine.NewRecovery()
	if err := r.CatchUp(t.Context(), time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if got := MustTransaction(t, s).Status; got != payment.Processing {
		t.Errorf("while the acquirer hangs: got %s", got)
	}
	close(release)
	r.Wait()
	steps()[1].wantDone(t, s)
}

// TestPauses: each pause of a step that cannot be finished is twice the previous one, up to a
// quarter of an hour. There is no last attempt, and the count outlives the process.
func TestPauses(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	r := serving(t, s)
	lose(s, coretest.Authorize, true, nil)
	if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	s.Acquirer.Before = func(context.Context, coretest.Call) error { return errForGood }
	s.Clock.Advance(time.Second)
	for n, pause := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900} {
		pass(t, r, 1)
		if n == 6 { // another process continues the pauses
			r = s.Engine.NewRecovery()
			r.Serve()
		}
		s.Clock.Advance(pause*time.Second - time.Millisecond)
		pass(t, r, 0)
		s.Clock.Advance(time.Millisecond)
	}
	if got := s.Texts(t, "SELECT attempts || ' ' || running || ' ' || last_error FROM step_attempts"); len(got) != 1 || got[0] != "12 0 "+errForGood.Error() {
		t.Errorf("attempts: got %q", got)
	}
	heal(s)
	pass(t, r, 1)
	if got := s.Number(t, "SELECT COUNT(*) FROM step_attempts"); got != 0 {
		t.Errorf("attempts at steps that ended: got %d, want none", got)
	}
	wantSettledBooks(t, s)
}

// TestOneTenantsTroubleIsItsOwn: a payment whose inquiry fails, at an acquirer that hangs, delays
// no payment of another tenant. It also delays no later payment.
func TestOneTenantsTroubleIsItsOwn(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	r := serving(t, s)
	mine := s.Tenant
	theirs := payment.Tenant{Merchant: s.IDs.Next()}
	if err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(theirs.Merchant, "other") }); err != nil {
		t.Fatal(err)
	}
	lose(s, coretest.Authorize, true, nil)
	for _, tenant := range []payment.Tenant{mine, theirs} {
		for range 4 {
			req := s.Request("")
			req.Tenant = tenant
			if a, err := s.Pay(t.Context(), req, 100, true); err != nil || a.Status != 504 {
				t.Fatalf("got %d, %v", a.Status, err)
			}
		}
	}
	heal(s)
	stuck := map[string]bool{}
	for _, c := range s.Acquirer.Calls(coretest.Authorize)[:3] {
		stuck[c.Reference] = true
	}
	hang := make(chan struct{})
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		if stuck[c.Reference] {
			<-hang
			return acquirer.ErrUnknown
		}
		return nil
	}
	s.Clock.Advance(time.Second)
	if got, err := r.Pass(t.Context()); err != nil || got != 2 {
		t.Fatalf("lanes: got %d, %v, want 2", got, err)
	}
	const captured = `SELECT COUNT(*) FROM transactions WHERE status = 'captured' AND merchant_id = ?`
	for s.Number(t, captured, theirs.Merchant) != 4 { // while the other tenant's lane hangs
		runtime.Gosched()
	}
	close(hang)
	r.Wait()
	s.Clock.Advance(time.Second)
	pass(t, r, 1) // begins after the failed ones
	if got := s.Number(t, captured, mine.Merchant); got != 1 {
		t.Errorf("behind those that fail: got %d captured, want 1", got)
	}
}
