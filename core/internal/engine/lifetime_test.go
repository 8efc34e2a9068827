package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// endless is an acquirer that sets no end to authorizations.
type endless struct{ *coretest.Acquirer }

func withoutEnd(a acquirer.Response, err error) (acquirer.Response, error) {
	a.ExpiresAt = time.Time{}
	return a, err
}

// Authorize implements acquirer.Acquirer.
func (u endless) Authorize(ctx context.Context, r acquirer.Authorize) (acquirer.Response, error) {
	return withoutEnd(u.Acquirer.Authorize(ctx, r))
}

// Inquire implements acquirer.Acquirer.
func (u endless) Inquire(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	return withoutEnd(u.Acquirer.Inquire(ctx, about))
}

// TestAuthorizationWithoutAnEnd: an authorization without an end of the acquirer's lapses after
// payment.AuthorizationLifetime, counted from its request. A payment that takes the money has no
// end.
func TestAuthorizationWithoutAnEnd(t *testing.T) {
	t.Parallel()
	for _, capture := range []bool{false, true} {
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprint("capture ", capture, " lost ", lost), func(t *testing.T) {
				t.Parallel()
				s := coretest.Open(t)
				s.Engine.Test = endless{s.Acquirer}
				requested, want := s.Clock.Now(), 201
				if lost {
					lose(s, coretest.Authorize, true, nil)
					want = 504
				}
				if a, err := s.Pay(t.Context(), s.Request("k"), 100, capture); err != nil || a.Status != want {
					t.Fatalf("got %d %s, %v, want %d", a.Status, a.Body, err, want)
				}
				if heal(s); lost {
					s.Clock.Advance(48 * time.Hour)
					s.Recover(t)
				}
				end := requested.Add(payment.AuthorizationLifetime).Truncate(time.Millisecond)
				if capture {
					end = time.Time{}
				}
				if got := MustTransaction(t, s).Result.ExpiresAt; !got.Equal(end) {
					t.Errorf("the authorization ends at %s, want %s", got, end)
				}
				s.Clock.Advance(payment.AuthorizationLifetime)
				lapsed, err := s.Engine.ExpireDue(t.Context())
				if err != nil || (lapsed == 1) == capture {
					t.Errorf("%d authorizations have lapsed, %v", lapsed, err)
				}
			})
		}
	}
}
