package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// undoing is an acquirer that cannot find a request without its id. It undoes the request instead:
// a repeated capture or refund voids the earlier one, and an inquiry without an id reverses.
type undoing struct {
	*coretest.Acquirer

	during func() // called after each undoing; nil for none

	mu     sync.Mutex
	undone map[string]bool // guarded by mu
}

func (u *undoing) undo(reference string) {
	u.mu.Lock()
	u.undone[reference] = true
	u.mu.Unlock()
	if u.during != nil {
		u.during()
	}
}

func (u *undoing) Capture(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	if r.Again {
		u.undo(r.Reference)
		return acquirer.Response{}, acquirer.ErrNotFound
	}
	return u.Acquirer.Capture(ctx, r)
}

func (u *undoing) Refund(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	if r.Again {
		u.undo(r.Reference)
		return acquirer.Response{}, acquirer.ErrNotFound
	}
	return u.Acquirer.Refund(ctx, r)
}

func (u *undoing) Inquire(_ context.Context, about acquirer.Sent) (acquirer.Response, error) {
	if about.ID == "" {
		u.undo(about.Reference)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return acquirer.Response{
		Approved: true, Released: u.undone[about.Reference], ID: about.ID, ResponseCode: "00", Amount: about.Amount,
	}, nil
}

func (u *undoing) ForPayment(context.Context, int64, string, acquirer.Method) ([]acquirer.Account, error) {
	return []acquirer.Account{{ID: coretest.LiveAccount, Acquirer: u}}, nil
}

func (u *undoing) Account(context.Context, int64, int64) (acquirer.Account, error) {
	return acquirer.Account{ID: coretest.LiveAccount, Acquirer: u}, nil
}

// TestApprovedAfterItWasUndone: the approval of a first attempt arrives after recovery has let the
// acquirer undo the step.
func TestApprovedAfterItWasUndone(t *testing.T) {
	t.Parallel()
	for _, st := range followUpSteps() {
		if st.verb == coretest.Void {
			continue
		}
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			u := &undoing{Acquirer: s.Acquirer, undone: map[string]bool{}}
			s.Engine.Live = u
			txn := st.MustPrepare(t, s)
			s.Acquirer.After = func(_ context.Context, c coretest.Call) error {
				if c.Verb == st.verb {
					s.Acquirer.After = nil
					s.Recover(t) //nolint:contextcheck // it is the test's
				}
				return nil
			}
			if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != 504 {
				t.Errorf("got %d %s, %v, want 504", a.Status, a.Body, err)
			}
			lookUntilTheEnd(t, s)
			if len(u.undone) == 0 {
				t.Fatal("the acquirer undid nothing")
			}
			st.wantUndone(t, s)
		})
	}
}

// TestApprovedWhileItIsUndone: the approval of a payment is written while recovery lets the
// acquirer undo the payment.
func TestApprovedWhileItIsUndone(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	undone, written := make(chan struct{}), make(chan struct{})
	u := &undoing{Acquirer: s.Acquirer, undone: map[string]bool{}}
	u.during = sync.OnceFunc(func() {
		close(undone)
		<-written
	})
	s.Engine.Live = u
	var recovery sync.WaitGroup
	s.Acquirer.After = func(_ context.Context, c coretest.Call) error {
		if c.Verb == coretest.Authorize {
			recovery.Go(func() { catchUp(t, s) }) //nolint:contextcheck // it is the test's
			<-undone
		}
		return nil
	}
	if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 504 {
		t.Errorf("got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	close(written)
	recovery.Wait()
	s.Acquirer.After = nil
	lookUntilTheEnd(t, s)
	if got := MustTransaction(t, s); got.Status != payment.Failed || got.Captured != 0 {
		t.Errorf("got %s, captured %d, want it failed", got.Status, got.Captured)
	}
}
