package engine_test

import (
	"context"
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
