package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// TestTokensOutliveAClockSetBack: a clock is set back by mistake for less than an hour. Neither the
// card number nor the security code of a token is removed, and a payment by the token has both.
func TestTokensOutliveAClockSetBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(*testing.T, *coretest.Service) // what happened to the clock earlier
		back   time.Duration
		held   time.Duration
	}{
		"for one sweep":  {back: 3 * time.Hour, held: time.Minute},
		"for most of it": {back: 3 * time.Hour, held: 57 * time.Minute},
		"by two hours":   {back: 2*time.Hour + time.Second, held: time.Minute},
		"by 30 days":     {back: 30 * 24 * time.Hour, held: time.Minute},
		"after a correction by four hours": {before: func(t *testing.T, s *coretest.Service) {
			t.Helper()
			s.Clock.Step(-4 * time.Hour)
			mustSweep(t, s)
			s.Clock.Advance(2 * time.Hour)
			mustSweep(t, s)
		}, back: 3 * time.Hour, held: 57 * time.Minute},
		"after a correction in part": {before: func(t *testing.T, s *coretest.Service) {
			t.Helper()
			s.Clock.Step(-6 * time.Hour)
			mustSweep(t, s)
			s.Clock.Step(4 * time.Hour)
			mustSweep(t, s)
			s.Clock.Advance(10 * time.Minute)
		}, back: 3 * time.Hour, held: 57 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			s.DB.ClockAhead()
			if c.before != nil {
				c.before(t, s)
			}
			token := MustToken(t, s, cvc)
			s.Clock.Advance(time.Minute)
			s.Clock.Step(-c.back)
			mustSweep(t, s)
			s.Clock.Advance(c.held)
			mustSweep(t, s)
			s.Clock.Step(c.back)
			found, err := s.Engine.Stored(t.Context(), s.Tenant, token)
			if err != nil || found.Secrets.Number.IsZero() || found.Secrets.CVC.IsZero() {
				t.Fatalf("the token: got %v, %v, want its number and security code", found.Secrets, err)
			}
			if a, err := payWith(t.Context(), s, "k", token, found); err != nil || a.Status != 201 {
				t.Errorf("the payment by the token: got %d, %v, want 201", a.Status, err)
			}
		})
	}
}

// TestTokensOfAClockSetBackAreWiped: a clock is set back for more than an hour. No card number and
// no code key is kept for longer than that, and no token of the new time loses its number.
func TestTokensOfAClockSetBackAreWiped(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	s.DB.ClockAhead()
	MustToken(t, s, cvc)
	s.Clock.Step(-30 * 24 * time.Hour)
	mustSweep(t, s)
	wantNumber(t, s, "tokens with a number at first", "SELECT COUNT(*) FROM tokens WHERE number IS NOT NULL", 1)
	s.Clock.Advance(payment.TokenLifetime)
	mustSweep(t, s)
	wantNumber(t, s, "tokens with a number", "SELECT COUNT(*) FROM tokens WHERE number IS NOT NULL", 0)
	wantNumber(t, s, "security codes", "SELECT COUNT(*) FROM security_codes", 0)
	later := fmt.Sprintf("SELECT COUNT(*) FROM code_keys WHERE hour > %d", payment.CodeHour(s.Clock.Now())+1)
	wantNumber(t, s, "keys of a later hour", later, 0)
	MustToken(t, s, cvc)
	mustSweep(t, s)
	wantNumber(t, s, "new tokens with a number", "SELECT COUNT(*) FROM tokens WHERE number IS NOT NULL", 1)
}

// TestCodeKeysOfAClockThatWasAhead: a clock a day ahead made a key of security codes, and was set
// back while core was stopped. The key is destroyed an hour after the start. The key of an hour
// that the clock has reached by then stays.
func TestCodeKeysOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	first := coretest.Open(t)
	hour := payment.CodeHour(first.Clock.Now())
	first.Clock.Advance(time.Hour)
	MustToken(t, first, cvc)
	first.Clock.Advance(23 * time.Hour)
	MustToken(t, first, cvc)
	if err := first.DB.KeepConfirmed(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := first.Revive(t, first.Snapshot(t))
	s.Clock.Step(-24 * time.Hour)
	s.DB.ClockAhead()
	mustSweep(t, s)
	wantNumber(t, s, "keys at first", "SELECT COUNT(*) FROM code_keys", 2)
	s.Clock.Advance(payment.TokenLifetime)
	mustSweep(t, s)
	wantNumber(t, s, "keys", "SELECT COUNT(*) FROM code_keys", 1)
	wantNumber(t, s, "keys of the hour", fmt.Sprintf("SELECT COUNT(*) FROM code_keys WHERE hour = %d", hour+1), 1)
	wantNumber(t, s, "codes", "SELECT COUNT(*) FROM security_codes", 1)
}
