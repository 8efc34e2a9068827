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

// rotateAsMerchant rotates as a merchant does, and returns the error.
func (f filter) rotateAsMerchant(t *testing.T, tenant string, alg engine.Alg, keep *time.Duration) error {
	t.Helper()
	_, err := f.Rotate(
		t.Context(), keyring.Rotate{Tenant: tenant, Alg: alg, Keep: keep, Limited: true},
		func(keyring.Rotated) keyring.Response { return keyring.Response{} },
	)
	return err
}

func (f filter) wantLimit(t *testing.T, err, reason error, after time.Duration) {
	t.Helper()
	var limit *keyring.LimitError
	if !errors.As(err, &limit) || !errors.Is(err, reason) || limit.After != after {
		t.Errorf("got %v, want %v for %s", err, reason, after)
	}
}

// TestRotationsADay checks the limit of ten rotations within 24 hours to the millisecond. Each
// merchant, mode and algorithm has a separate limit.
func TestRotationsADay(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			a, b := two(t, e.Source(t))
			a.current(t, ec)
			none := time.Duration(0)
			for i := range keyring.MaxRotations {
				a.clock.Advance(time.Minute)
				if err := []filter{a, b}[i%2].rotateAsMerchant(t, shop, ec, &none); err != nil {
					t.Fatal(err)
				}
			}
			const until = day - (keyring.MaxRotations-1)*time.Minute // the first of the ten was nine minutes ago
			a.wantLimit(t, a.rotateAsMerchant(t, shop, ec, &none), keyring.ErrTooOften, until)
			if err := a.rotateAsMerchant(t, other, ec, &none); err != nil {
				t.Errorf("another merchant: %v", err)
			}
			for range 2 * keyring.MaxRotations {
				a.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec, Keep: &none}) // operators have no limit
			}
			a.wantLimit(t, a.rotateAsMerchant(t, shop, ec, &none), keyring.ErrTooOften, until) // and keep the merchant's
			a.clock.Advance(until - time.Millisecond)
			a.wantLimit(t, a.rotateAsMerchant(t, shop, ec, &none), keyring.ErrTooOften, time.Millisecond)
			a.clock.Advance(time.Millisecond)
			if err := a.rotateAsMerchant(t, shop, ec, &none); err != nil {
				t.Errorf("after its time: %v", err)
			}
		})
	}
}

// TestOperatorsRotateOutsideTheLimit checks that rotations and revocations by operators, and
// rotations by the schedule, do not count for a merchant's limit.
func TestOperatorsRotateOutsideTheLimit(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			a, b := two(t, e.Source(t))
			none := time.Duration(0)
			for range keyring.MaxRotations {
				k := a.current(t, ec).Current
				a.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec, Keep: &none})
				if _, err := b.Revoke(t.Context(), a.current(t, ec).Current.Kid); err != nil {
					t.Fatal(err)
				}
				if _, err := b.Revoke(t.Context(), k.Kid); err != nil {
					t.Fatal(err)
				}
			}
			for range keyring.MaxRotations {
				if err := a.rotateAsMerchant(t, shop, ec, &none); err != nil {
					t.Fatal(err)
				}
			}
			a.wantLimit(t, b.rotateAsMerchant(t, shop, ec, &none), keyring.ErrTooOften, day)
		})
	}
}

// TestLiveKeys checks that at most ten keys decrypt. A key that is not kept, or has ended, does not
// count.
func TestLiveKeys(t *testing.T) {
	t.Parallel()
	f := open(t, storetest.SQLite(t), clock.NewFake(birth))
	first := f.current(t, ec).Current.Kid
	for range keyring.MaxLive - 1 {
		f.clock.Advance(time.Hour)
		if err := f.rotateAsMerchant(t, shop, ec, nil); err != nil {
			t.Fatal(err)
		}
	}
	f.clock.Advance(2 * day)
	f.wantLimit(t, f.rotateAsMerchant(t, shop, ec, nil), keyring.ErrTooManyKeys, 28*day-(keyring.MaxLive-2)*time.Hour)
	none := time.Duration(0)
	if err := f.rotateAsMerchant(t, shop, ec, &none); err != nil {
		t.Errorf("the replaced key is not kept: %v", err)
	}
	f.wantLimit(t, f.rotateAsMerchant(t, shop, ec, nil), keyring.ErrTooManyKeys, 28*day-(keyring.MaxLive-2)*time.Hour)
	if _, err := f.Retire(t.Context(), shop, first); err != nil {
		t.Fatal(err)
	}
	if err := f.rotateAsMerchant(t, shop, ec, nil); err != nil {
		t.Errorf("with room for it: %v", err)
	}
	if err := f.rotateAsMerchant(t, shop, ec, nil); err == nil {
		t.Error("there was room for two")
	}
}

// TestSparesAreShared checks that a merchant that has just taken an RSA key leaves half of the
// spares to others.
func TestSparesAreShared(t *testing.T) {
	t.Parallel()
	f := open(t, storetest.SQLite(t), clock.NewFake(birth), func(c *keyring.Config) { c.Spares = 4 })
	f.must(t, f.Fill)
	f.current(t, rsa) // 3 left
	if err := f.rotateAsMerchant(t, shop, rsa, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.rotateAsMerchant(t, shop, rsa, nil); !errors.Is(err, keyring.ErrNotReady) {
		t.Errorf("with two left: got %v", err)
	}
	if _, err := f.Current(t.Context(), other, rsa); err != nil {
		t.Errorf("another merchant: got %v", err)
	}
	f.clock.Advance(time.Hour)
	if err := f.rotateAsMerchant(t, shop, rsa, nil); err != nil {
		t.Errorf("an hour later: got %v", err)
	}
}

// TestForgotten checks that an ended key is listed for 30 days and then deleted. Keys in use stay.
func TestForgotten(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			f := open(t, e.Source(t), clock.NewFake(birth))
			revoked := f.current(t, ec).Current.Kid
			if _, err := f.Revoke(t.Context(), revoked); err != nil {
				t.Fatal(err)
			}
			none, hour := time.Duration(0), time.Hour
			retired := f.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec, Keep: &none}).Previous.Kid
			previous := f.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec, Keep: &hour}).Previous.Kid
			current := f.current(t, ec).Current.Kid
			left := func(want ...string) {
				t.Helper()
				f.must(t, f.Maintain)
				keys, err := f.List(t.Context(), shop)
				if err != nil {
					t.Fatal(err)
				}
				for _, kid := range want {
					if !has(keys, kid) {
						t.Errorf("%s is gone", kid)
					}
				}
				if len(keys) != len(want) {
					t.Errorf("got %d keys, want %d", len(keys), len(want))
				}
			}
			f.clock.Set(birth.Add(30 * day))
			left(revoked, retired, previous, current)
			f.clock.Advance(time.Millisecond)
			left(previous, current)
			f.clock.Set(birth.Add(30*day + time.Hour))
			left(previous, current)
			f.clock.Advance(time.Millisecond)
			left(current)
			if p := f.current(t, ec); p.Current.Kid != current || f.works(t, shop, p.Current) != nil {
				t.Errorf("got %+v", p)
			}
		})
	}
}

func has(keys []keyring.Key, kid string) bool {
	for _, k := range keys {
		if k.Kid == kid {
			return true
		}
	}
	return false
}
