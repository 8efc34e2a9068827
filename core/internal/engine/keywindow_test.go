package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestLivingKeysEndNoPurge writes keys by a clock 30 hours ahead, and 700 keys by the right clock
// after them. Valid keys before expired keys do not end a pass, even if they fill a whole window of
// 256 keys. None of them expires early, and no key of a running request is removed.
func TestLivingKeysEndNoPurge(t *testing.T) {
	t.Parallel()
	const ahead, years, expired = 30 * time.Hour, 10 * 365 * 24 * time.Hour, 700
	for _, c := range []struct{ wrong, living int }{{0, 1}, {0, 255}, {1, 255}, {255, 1}, {0, 256}} {
		t.Run(fmt.Sprintf("%d of a wrong clock, %d living", c.wrong, c.living), func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			s.Clock.Step(years)
			mustKeys(t, s, "wrong", c.wrong, true)
			s.Clock.Step(ahead - years)
			mustKeys(t, s, "living", c.living, true)
			s.Clock.Step(-ahead)
			mustKeys(t, s, "k", expired, true)
			mustKeys(t, s, "running", 1, false)
			s.Clock.Advance(store.KeyLifetime)
			mustPurge(t, s, expired)
			s.Clock.Advance(ahead - time.Millisecond)
			mustPurge(t, s, int64(c.wrong))
			s.Clock.Advance(time.Millisecond)
			mustPurge(t, s, int64(c.living))
			if got := s.Number(t, "SELECT COUNT(*) FROM idempotency_keys WHERE status = 0"); got != 1 {
				t.Errorf("got %d keys of running requests, want 1", got)
			}
		})
	}
}

// TestAPurgeEndsAtAWindowOfYoungKeys: a pass reads no key after a window of 256 keys that are
// younger than a lifetime.
func TestAPurgeEndsAtAWindowOfYoungKeys(t *testing.T) {
	t.Parallel()
	for young, want := range map[int]int64{255: 1, 256: 0} {
		s := coretest.Open(t)
		mustKeys(t, s, "young", young, true)
		mustKeys(t, s, "old", 1, true)
		s.MustExec(t, "UPDATE idempotency_keys SET expires_at = 1 WHERE key = 'old0'")
		s.Clock.Advance(store.KeyLifetime - time.Millisecond)
		mustPurge(t, s, want)
	}
}

// keyStores returns the ways in which a payment can be written. They are the store of this run, a
// batch, and a command as a batch of one.
func keyStores() map[string]func(testing.TB) *coretest.Service {
	return map[string]func(testing.TB) *coretest.Service{
		"any": coretest.Open, "batch, PostgreSQL": coretest.OpenShared, "commands, PostgreSQL": coretest.OpenAlone,
	}
}

// wantKeyUntil compares the expiry of the only idempotency key.
func wantKeyUntil(t *testing.T, s *coretest.Service, want time.Time) {
	t.Helper()
	if got := s.Number(t, "SELECT expires_at FROM idempotency_keys"); got != want.UnixMilli() {
		t.Errorf("the key expires %s from now, want %s", time.UnixMilli(got).Sub(s.Clock.Now()), want.Sub(s.Clock.Now()))
	}
}

// mustWarmUp makes a payment without a key. A store that several cores share finishes the payments
// of a tenant in batches after the first one.
func mustWarmUp(t *testing.T, s *coretest.Service) {
	t.Helper()
	if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
}

// TestAKeyOfAClockALittleBehind: the clock is set back by half an hour. Keys written after that
// live for a whole lifetime from the highest confirmed time.
func TestAKeyOfAClockALittleBehind(t *testing.T) {
	t.Parallel()
	for name, open := range keyStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			mustWarmUp(t, s)
			want := s.Clock.Now().Add(store.KeyLifetime)
			s.Clock.Step(-30 * time.Minute)
			wantReplayed(t, s, false)
			wantKeyUntil(t, s, want)
		})
	}
}

// TestALateResponseExtendsItsKey: a payment takes 23 hours, and its outcome is written by a clock
// that is a day behind. Its key lives for another lifetime from the highest confirmed time.
func TestALateResponseExtendsItsKey(t *testing.T) {
	t.Parallel()
	for name, open := range keyStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			mustWarmUp(t, s)
			const behind = 24 * time.Hour
			c := s.Engine.Config
			c.Test = turning{s.Acquirer, func() {
				s.Clock.Advance(23*time.Hour + 30*time.Minute)
				s.DB.ClockAhead()
				s.Clock.Step(-behind)
			}}
			s.Engine = engine.New(c)
			wantReplayed(t, s, false)
			wantKeyUntil(t, s, s.Clock.Now().Add(behind+store.KeyLifetime))
		})
	}
}
