package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// TestATokenThatAWrongClockWipedIsNotCharged: a clock that is ahead wipes the number of a token,
// and is set right. The token is expired, in the store too, and no card without a number reaches
// the acquirer or a customer.
func TestATokenThatAWrongClockWipedIsNotCharged(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"", cvc} {
		t.Run("security code "+code, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			token := MustToken(t, s, code)
			s.Clock.Step(2 * payment.TokenLifetime)
			if err := s.Engine.SweepTokens(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.Clock.Step(-2 * payment.TokenLifetime)
			if got := s.Number(t, "SELECT COUNT(*) FROM tokens WHERE number IS NULL"); got != 1 {
				t.Fatalf("got %d tokens without a number, want 1", got)
			}
			wantExpired(t, s, token)
			now := s.Clock.Now().UnixMilli()
			if got := s.Number(t, "SELECT expires_at FROM tokens"); got > now {
				t.Errorf("the token expires in %s, want it expired", time.Duration(got-now)*time.Millisecond)
			}
		})
	}
}

// TestATokenWithoutItsNumberIsNotCharged: a token without its number is refused, even before it
// expires.
func TestATokenWithoutItsNumberIsNotCharged(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	token := MustToken(t, s, "")
	s.MustExec(t, "UPDATE tokens SET number = NULL")
	wantExpired(t, s, token)
}

// wantExpired checks that a payment by a token, and its attachment to a customer, are refused.
func wantExpired(t *testing.T, s *coretest.Service, token string) {
	t.Helper()
	found, err := s.Engine.Stored(t.Context(), s.Tenant, token)
	if err != nil || !found.Secrets.Number.IsZero() || !found.Secrets.CVC.IsZero() {
		t.Errorf("the source: got %v, want it without secrets", err)
	}
	if a, err := payWith(t.Context(), s, "k", token, found); !errors.Is(err, payment.ErrTokenExpired) {
		t.Errorf("the payment: got %d, %v, want %v", a.Status, err, payment.ErrTokenExpired)
	}
	if got := len(s.Acquirer.Calls(coretest.Authorize)); got != 0 {
		t.Errorf("the acquirer got %d authorizations, want none", got)
	}
	customer, err := customerOf(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	_, err = attaching(s, customer, token)(t.Context())
	if !errors.Is(err, payment.ErrTokenExpired) {
		t.Errorf("attach: got %v, want %v", err, payment.ErrTokenExpired)
	}
	for _, table := range []string{"transactions", "payment_methods", "idempotency_keys"} {
		if got := s.Number(t, fmt.Sprintf("SELECT COUNT(*) FROM %s", table)); got != 0 {
			t.Errorf("got %d %s, want none", got, table)
		}
	}
}
