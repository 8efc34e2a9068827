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

// ending is an acquirer that states one end for all authorizations, zero for none.
type ending struct {
	*coretest.Acquirer
	end time.Time
}

func (u ending) with(a acquirer.Response, err error) (acquirer.Response, error) {
	a.ExpiresAt = u.end
	return a, err
}

// Authorize implements acquirer.Acquirer.
func (u ending) Authorize(ctx context.Context, r acquirer.Authorize) (acquirer.Response, error) {
	return u.with(u.Acquirer.Authorize(ctx, r))
}

// Inquire implements acquirer.Acquirer.
func (u ending) Inquire(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	return u.with(u.Acquirer.Inquire(ctx, about))
}

// TestAuthorizationWithoutAnEnd: an authorization without an end of the acquirer's lapses after
// payment.AuthorizationLifetime, counted from its request. So does one with an end that cannot be
// right. A payment that takes the money has no end.
func TestAuthorizationWithoutAnEnd(t *testing.T) {
	t.Parallel()
	ends := map[string]time.Time{
		"": {}, "past": time.Date(1, 1, 31, 0, 0, 0, 0, time.UTC), "year of five digits": time.Date(10000, 1, 30, 0, 0, 0, 0, time.UTC),
		"two years": coretest.Birth.AddDate(2, 0, 0),
	}
	for name, stated := range ends {
		for n := range 4 {
			capture, lost := n%2 == 1, n > 1
			t.Run(fmt.Sprint(name, " capture ", capture, " lost ", lost), func(t *testing.T) {
				t.Parallel()
				s := coretest.Open(t)
				s.Engine.Test = ending{s.Acquirer, stated}
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
