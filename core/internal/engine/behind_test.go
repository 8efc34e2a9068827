package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// wantKept sets the clock right, lets the guard accept it, and sends the payment under the key k
// again.
func wantKept(t *testing.T, s *coretest.Service, behind time.Duration) {
	t.Helper()
	s.Clock.Step(behind)
	for range 2 {
		if got := mustPass(t, s); got != 0 {
			t.Errorf("a pass ended %d rows", got)
		}
		wantReplayed(t, s, true)
		s.Clock.Advance(61 * time.Minute)
	}
}

// TestAKeyOfAClockThatWasBehindIsKept: a payment is made by a clock that is behind, also after a
// restart. Its key is kept after the clock is set right.
func TestAKeyOfAClockThatWasBehindIsKept(t *testing.T) {
	t.Parallel()
	for _, behind := range []time.Duration{24 * time.Hour, 3000 * 24 * time.Hour} {
		for _, restarts := range []bool{false, true} {
			t.Run(behind.String(), func(t *testing.T) {
				t.Parallel()
				s := coretest.Open(t)
				s.Clock.Step(-behind)
				s.Clock.Advance(time.Hour)
				if got := mustPass(t, s); got != 0 {
					t.Errorf("a pass ended %d rows", got)
				}
				if restarts {
					s = s.Revive(t, s.Snapshot(t))
				}
				wantReplayed(t, s, false)
				s.Clock.Advance(10 * time.Minute)
				wantKept(t, s, behind)
			})
		}
	}
}

// TestAReservedKeyOfAClockThatWasBehind: the response to a reservation shows until when its key is
// kept.
func TestAReservedKeyOfAClockThatWasBehind(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	s.Clock.Step(-24 * time.Hour)
	a, err := s.Engine.ReserveKey(t.Context(), s.Request("k"), "a purpose")
	if err != nil {
		t.Fatal(err)
	}
	shown := a.Object.(*engine.Reservation).ExpiresAt
	want := s.Clock.Now().Add(24*time.Hour + store.KeyLifetime)
	if k, err := s.Engine.IdempotencyKey(t.Context(), s.Tenant, "k"); err != nil || !k.ExpiresAt.Equal(want) || !shown.Equal(want) {
		t.Errorf("got %+v, %v and %s in the response, want expiry at %s", k, err, shown, want)
	}
}

// turning is an acquirer that moves the clock during each authorization.
type turning struct {
	*coretest.Acquirer
	turn func()
}

// Authorize implements acquirer.Acquirer.
func (a turning) Authorize(ctx context.Context, r acquirer.Authorize) (acquirer.Response, error) {
	a.turn()
	return a.Acquirer.Authorize(ctx, r)
}
