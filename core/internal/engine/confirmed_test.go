package engine_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// mustPass runs each background pass that ends or removes rows permanently once, and returns the
// number of these rows.
func mustPass(t *testing.T, s *coretest.Service) int64 {
	t.Helper()
	if err := s.Engine.CheckClock(t.Context()); err != nil {
		t.Fatal(err)
	}
	now, ended := s.Clock.Now(), int64(0)
	count := func(n int64, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		ended += n
	}
	if err := s.DB.KeepConfirmed(t.Context()); err != nil {
		t.Fatal(err)
	}
	count(s.DB.PurgeIdempotencyKeys(t.Context(), now))
	count(s.DB.PurgeEvents(t.Context(), now, 60*24*time.Hour))
	count(s.DB.ErasePersonal(t.Context(), now, 60, api.Impersonal))
	count(s.DB.ErasePersonalEvents(t.Context(), now, api.Impersonal))
	count(s.Engine.DeleteInactiveCustomers(t.Context(), 60))
	n, err := s.Engine.ExpireDue(t.Context())
	count(int64(n), err)
	return ended
}

// mustPayments makes a captured payment under the key k and an authorization, and returns the
// authorization.
func mustPayments(t *testing.T, s *coretest.Service) int64 {
	t.Helper()
	for key, capture := range map[string]bool{"k": true, "l": false} {
		if a, err := s.Pay(t.Context(), s.Request(key), 100, capture); err != nil || a.Status != 201 {
			t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
		}
	}
	return s.Number(t, "SELECT id FROM transactions WHERE status = ?", string(payment.Authorized))
}

// mustPersonal makes a customer and a payment with personal data.
func mustPersonal(t *testing.T, s *coretest.Service) {
	t.Helper()
	_, err := s.Engine.CreateCustomer(t.Context(), s.Request(""), []byte(`{"email":"ann@example.com"}`))
	if err != nil {
		t.Fatal(err)
	}
	if a, err := s.Engine.Authorize(t.Context(), s.Request(""), engine.Payment{
		Amount: 100, Currency: "usd", AutoCapture: true, PaymentMethod: "pm_card_visa",
		Details: []byte(`{"billing":{"first_name":"Ann"}}`),
	}); err != nil || a.Status != 201 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
}

// wantReplayed sends the payment under the key k again.
func wantReplayed(t *testing.T, s *coretest.Service, want bool) {
	t.Helper()
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 201 || a.Replayed != want {
		t.Errorf("retry: got %d replayed %t, %v, want 201 replayed %t", a.Status, a.Replayed, err, want)
	}
}

// TestAClockThatIsSetAheadEndsNothing: while the clock is wrong, a retry is not a second payment,
// and no pass expires, purges or erases. Once the clock is right, all is as before.
func TestAClockThatIsSetAheadEndsNothing(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	open := mustPayments(t, s)
	mustPersonal(t, s)
	err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.AdvanceTestClock(s.Tenant.Merchant, time.Hour)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	const by = 400 * 24 * time.Hour
	s.Clock.Step(by)
	for range 59 {
		wantReplayed(t, s, true)
		if _, err := s.Engine.IdempotencyKey(t.Context(), s.Tenant, "k"); err != nil {
			t.Errorf("the key: got %v", err)
		}
		if got := mustPass(t, s); got != 0 {
			t.Errorf("a pass by the wrong clock ended %d rows", got)
		}
		s.Clock.Advance(time.Minute)
	}
	s.Clock.Step(-by)
	if got := mustPass(t, s); got != 0 {
		t.Errorf("a pass by the right clock ended %d rows", got)
	}
	wantReplayed(t, s, true)
	if a, err := s.Engine.Capture(t.Context(), s.Request(""), open, 0, true, nil); err != nil || a.Status != 201 {
		t.Errorf("capture: got %d %s, %v", a.Status, a.Body, err)
	}
}

// TestAClockThatStaysAheadIsBelieved: an hour after a step of the clock, rows end by the new time.
// Keys end after their whole lifetime.
func TestAClockThatStaysAheadIsBelieved(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	mustPayments(t, s)
	s.Clock.Step(8 * 24 * time.Hour)
	if got := mustPass(t, s); got != 0 {
		t.Errorf("immediately: %d rows ended", got)
	}
	s.Clock.Advance(time.Hour)
	if got, want := mustPass(t, s), int64(1); got != want {
		t.Errorf("after an hour: %d rows ended, want %d: the authorization", got, want)
	}
	wantReplayed(t, s, true)
	s.Clock.Advance(store.KeyLifetime - time.Hour)
	if got, want := mustPass(t, s), int64(2); got != want {
		t.Errorf("after the keys' lifetime: %d rows ended, want %d", got, want)
	}
	wantReplayed(t, s, false)
}

// TestARestartByAWrongClockEndsNothing: a process that starts by a clock a day ahead of the last
// process holds each key for an hour. It does not matter whether the clock was set before or after
// the end of that process. After a downtime of less than an hour, no key is kept for longer than
// its lifetime.
func TestARestartByAWrongClockEndsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after time.Duration
		holds         bool
	}{
		"set while it was down": {after: 25 * time.Hour, holds: true},
		"set while it ran":      {before: 25 * time.Hour, holds: true},
		"down for 59 minutes":   {after: 59 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := coretest.Open(t)
			mustPayments(t, first)
			first.Clock.Advance(24*time.Hour - 30*time.Minute)
			if got := mustPass(t, first); got != 0 {
				t.Fatalf("%d rows ended", got)
			}
			first.Clock.Step(c.before)
			first.Clock.Advance(time.Minute)
			if got := mustPass(t, first); got != 0 {
				t.Fatalf("%d rows ended", got)
			}
			dir := first.Snapshot(t)
			first.Clock.Step(c.after)
			s := first.Revive(t, dir)
			if got := mustPass(t, s); got == 0 != c.holds {
				t.Errorf("at the start: %d rows ended, want none: %t", got, c.holds)
			}
			wantReplayed(t, s, c.holds)
			s.Clock.Advance(time.Hour)
			if got := mustPass(t, s); got == 0 == c.holds {
				t.Errorf("an hour later: %d rows ended, want some: %t", got, c.holds)
			}
		})
	}
}
