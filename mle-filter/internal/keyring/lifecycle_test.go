package keyring_test

import (
	"errors"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestFirstKeys checks that a merchant gets a P-256 key at its first request and an RSA key from
// the spares. Merchants share no keys.
func TestFirstKeys(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source := e.Source(t)
			a, b := two(t, source)
			p := a.current(t, ec)
			if again := b.current(t, ec); again.Current.Kid != p.Current.Kid || p.Next != nil {
				t.Errorf("got %+v, then %+v", p, again)
			}
			if _, err := a.Current(t.Context(), shop, rsa); !errors.Is(err, keyring.ErrNotReady) {
				t.Errorf("no RSA key was made ahead: got %v", err)
			}
			a.must(t, a.Fill)
			r := b.current(t, rsa)
			if _, err := a.Current(t.Context(), other, rsa); !errors.Is(err, keyring.ErrNotReady) {
				t.Errorf("the one that was is taken: got %v", err)
			}
			for _, f := range []filter{a, b} {
				for _, k := range []keyring.Key{p.Current, r.Current} {
					if err := f.works(t, shop, k); err != nil {
						t.Error(err)
					}
					if err := f.works(t, other, k); !errors.Is(err, engine.ErrNoKey) {
						t.Errorf("another merchant's: got %v", err)
					}
				}
			}
			want := keyring.Key{
				Tenant: shop, Kid: p.Current.Kid, Alg: ec, State: keyring.Current, JWK: p.Current.JWK, CreatedAt: birth,
				NotBefore:   birth,
				RotateAfter: birth.Add(90 * day), ExpiresAt: birth.Add(120 * day),
			}
			if got := p.Current; got.Kid != want.Kid || got.NotBefore != want.NotBefore || got.RotateAfter != want.RotateAfter ||
				got.ExpiresAt != want.ExpiresAt || got.State != want.State {
				t.Errorf("got %+v, want %+v", got, want)
			}
			thumb, err := keyring.Thumbprint(p.Current.JWK)
			if err != nil || thumb != p.Current.Kid || len(thumb) != 43 || p.Current.JWK.KeyID != thumb ||
				!p.Current.JWK.IsPublic() {
				t.Errorf("kid %s, thumbprint %s, %v", p.Current.Kid, thumb, err)
			}
		})
	}
}

// TestSchedule checks the states of a key to the millisecond, in the filter that runs the schedule
// and in one that does not.
func TestSchedule(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source := e.Source(t)
			a, b := two(t, source)
			first := a.current(t, ec).Current
			states := func(want ...keyring.State) {
				t.Helper()
				for _, f := range []filter{a, b} {
					keys, err := f.List(t.Context(), shop)
					if err != nil || len(keys) != len(want) {
						t.Fatalf("got %d keys, %v, want %d", len(keys), err, len(want))
					}
					for i, k := range keys {
						if k.State != want[i] {
							t.Errorf("at %s: key %d: got %s, want %s", f.clock.Now(), i, k.State, want[i])
						}
						err := f.works(t, shop, k)
						if k.State.Decrypts() != (err == nil) || err != nil && !errors.Is(err, engine.ErrNoKey) {
							t.Errorf("at %s: key %d, %s: %v", f.clock.Now(), i, k.State, err)
						}
					}
				}
			}
			at := func(after time.Duration) {
				t.Helper()
				a.clock.Set(birth.Add(after))
				a.must(t, a.Maintain)
			}
			at(76*day - time.Millisecond)
			states(keyring.Current)
			at(76 * day)
			states(keyring.Current, keyring.Next)
			p := b.current(t, ec)
			if p.Current.Kid != first.Kid || p.Next == nil || !p.Next.NotBefore.Equal(birth.Add(90*day)) ||
				!p.Current.RotateAfter.Equal(p.Next.NotBefore) {
				t.Errorf("got %+v", p)
			}
			at(90*day - time.Millisecond)
			states(keyring.Current, keyring.Next)
			at(90 * day)
			states(keyring.Previous, keyring.Current)
			if got := b.current(t, ec).Current.Kid; got != p.Next.Kid {
				t.Errorf("current: got %s, want the one that was next", got)
			}
			a.clock.Set(birth.Add(120*day - time.Millisecond))
			states(keyring.Previous, keyring.Current)
			a.clock.Set(birth.Add(120 * day)) // without Maintain
			states(keyring.Retired, keyring.Current)
			at(120 * day)
			states(keyring.Retired, keyring.Current)
			stored, err := a.db.Key(t.Context(), first.Kid)
			if err != nil || stored.Sealed != nil {
				t.Errorf("the private half of a retired key: got %d bytes, %v", len(stored.Sealed), err)
			}
			if n, err := a.db.Undelivered(t.Context()); err != nil || n != 1 {
				t.Errorf("events: got %d, %v, want 1", n, err)
			}
		})
	}
}

// TestScheduleLate checks that a merchant still gets two weeks with the next key if the schedule
// has not run for long.
func TestScheduleLate(t *testing.T) {
	t.Parallel()
	f := open(t, storetest.SQLite(t), clock.NewFake(birth))
	f.current(t, ec)
	f.clock.Advance(200 * day)
	f.must(t, f.Maintain)
	p := f.current(t, ec)
	if p.Next == nil || !p.Next.NotBefore.Equal(birth.Add(214*day)) {
		t.Fatalf("got %+v", p.Next)
	}
	f.clock.Advance(14 * day)
	f.must(t, f.Maintain)
	if got := f.current(t, ec).Current.Kid; got != p.Next.Kid {
		t.Errorf("got %s, want %s", got, p.Next.Kid)
	}
}

// TestScheduleRSA checks that a rotation without a spare RSA key waits until there is one.
func TestScheduleRSA(t *testing.T) {
	t.Parallel()
	f := open(t, storetest.SQLite(t), clock.NewFake(birth))
	f.must(t, f.Fill)
	f.current(t, ec)
	first := f.current(t, rsa)
	f.clock.Advance(76 * day)
	f.must(t, f.Maintain) // no spare, but P-256 rotates
	if f.current(t, ec).Next == nil || f.current(t, rsa).Next != nil {
		t.Error("want a next P-256 key, and no RSA key")
	}
	f.must(t, f.Fill)
	f.must(t, f.Maintain)
	p := f.current(t, rsa)
	if p.Next == nil || p.Current.Kid != first.Current.Kid {
		t.Fatalf("got %+v", p)
	}
	f.clock.Advance(14 * day)
	f.must(t, f.Maintain)
	if got := f.current(t, rsa).Current; got.Kid != p.Next.Kid || f.works(t, shop, got) != nil ||
		f.works(t, shop, first.Current) != nil {
		t.Errorf("got %+v", got)
	}
}
