package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// TestFailoverThatIsNotWritten: the commit that moves a payment to the second account, or back, is
// refused once. No account has the payment, so it ends without an operator.
func TestFailoverThatIsNotWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		proof string
		back  bool
	}{
		"move after unavailable": {"unavailable", false}, "move after decline": {"declined", false},
		"back after decline": {"declined", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			first, second := s.Acquirer, s.AddAccount(t, otherAccount)
			proofs[c.proof](first)
			findingNothing(first)
			end := func() {}
			refuse := func() { end = s.MustRefuse(t, "INSERT", "attempts", "NEW.number > 0") }
			second.Before = func(_ context.Context, call coretest.Call) error {
				if call.Verb == coretest.Inquire {
					return acquirer.ErrNotListed
				}
				refuse() // the second row, which moves the payment back
				return acquirer.ErrUnavailable
			}
			if !c.back {
				refuse()
			}
			a, err := s.Pay(t.Context(), s.Request("k"), 100, true)
			end()
			for range 60 {
				s.Clock.Advance(12 * time.Hour)
				if s.Recover(t) == 0 {
					return
				}
			}
			t.Errorf("got %d %.120s, %v, and the payment never ends", a.Status, a.Body, err)
		})
	}
}

// findingNothing makes the acquirer never find a payment, as one that can only search its lists.
func findingNothing(a *coretest.Acquirer) {
	before := a.Before
	a.Before = func(ctx context.Context, call coretest.Call) error {
		switch {
		case call.Verb == coretest.Inquire:
			return acquirer.ErrNotListed
		case before != nil:
			return before(ctx, call)
		}
		return nil
	}
}

// preparing calls a function with the tag of each request to the second account, just before the
// move to it is committed.
type preparing struct {
	*coretest.Accounts
	before func(tag string)
}

// ForPayment implements acquirer.Accounts.
func (p *preparing) ForPayment(
	ctx context.Context, merchant int64, currency string, m acquirer.Method,
) ([]acquirer.Account, error) {
	found, err := p.Accounts.ForPayment(ctx, merchant, currency, m)
	if len(found) == 2 {
		found[1].Acquirer = &preparedBy{found[1].Acquirer, p.before}
	}
	return found, err
}

type preparedBy struct {
	acquirer.Acquirer
	before func(tag string)
}

// Prepare implements acquirer.Acquirer.
func (p *preparedBy) Prepare(ctx context.Context) (string, error) {
	tag, err := p.Acquirer.Prepare(ctx)
	p.before(tag)
	return tag, err
}

// TestFailoverAfterAnOutage: the move is committed, and the store then refuses commands for a
// while. The second account gets the payment after that.
func TestFailoverAfterAnOutage(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	second := s.AddAccount(t, otherAccount)
	proofs["unavailable"](s.Acquirer)
	s.Engine.Live = &preparing{s.Accounts, func(tag string) {
		s.MustExec(t, "UPDATE transactions SET account = ?, tag = ?, void_tag = ''", int64(otherAccount), tag)
		time.AfterFunc(time.Second/2, s.MustRefuse(t, "UPDATE", "transactions", "NEW.id > 0"))
	}}
	a, err := s.Pay(t.Context(), s.Request("k"), 100, true)
	if got := len(second.Payments()); got != 1 || a.Status != http.StatusCreated || err != nil {
		t.Errorf("got %d %.160s, %v, and the second account got %d payments", a.Status, a.Body, err, got)
	}
}

// TestFailoverWithoutConfirmation: the move to the second account is committed, and only the
// confirmation of the commit is missing. That account gets the payment, unless recovery has
// reclaimed it.
func TestFailoverWithoutConfirmation(t *testing.T) {
	t.Parallel()
	for proof := range proofs {
		for reclaimed, want := range map[int64]int{0: 1, 1: 0} {
			t.Run(fmt.Sprintf("%s, reclaimed %d", proof, reclaimed), func(t *testing.T) {
				t.Parallel()
				s := coretest.OpenLive(t)
				second := s.AddAccount(t, otherAccount)
				proofs[proof](s.Acquirer)
				s.Engine.Live = &preparing{s.Accounts, func(tag string) {
					s.MustExec(t, "UPDATE transactions SET account = ?, tag = ?, void_tag = '', reclaimed_at = ?",
						int64(otherAccount), tag, reclaimed)
				}}
				a, err := s.Pay(t.Context(), s.Request("k"), 100, true)
				if got := len(second.Payments()); got != want {
					t.Errorf("the second account got %d payments, want %d", got, want)
				}
				if paid := a.Status == http.StatusCreated; paid != (want == 1) || err != nil {
					t.Errorf("got %d %.160s, %v", a.Status, a.Body, err)
				}
			})
		}
	}
}
