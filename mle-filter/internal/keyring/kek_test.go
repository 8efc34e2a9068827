package keyring_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore/postgres"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
)

// withKEK configures the key-encryption key and the previous one, 0 for none.
func withKEK(now, old byte) func(*keyring.Config) {
	return func(c *keyring.Config) {
		if c.KEK = kek(now); old != 0 {
			c.OldKEK = kek(old)
		}
	}
}

// TestKEKOverlap replaces the key-encryption key while several filters share the store. At each
// step a new filter opens the keys, and all running filters continue.
func TestKEKOverlap(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source, c := e.Source(t), clock.NewFake(birth)
			before := open(t, source, c, withKEK(1, 0))
			first := before.current(t, ec).Current
			both := open(t, source, c, withKEK(2, 1))
			running := []filter{before, both, open(t, source, c, withKEK(2, 1))}
			serve := func(when string) {
				t.Helper()
				for i, f := range running {
					for _, k := range []keyring.Key{first, f.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec}).Current} {
						if err := f.works(t, shop, k); err != nil {
							t.Errorf("%s: filter %d: %v", when, i, err)
						}
					}
				}
			}
			serve("with the old key")
			for range 2 { // the second time changes nothing
				if err := keyring.Rewrap(t.Context(), both.db, kek(1), kek(2)); err != nil {
					t.Fatal(err)
				}
			}
			running = append(running, open(t, source, c, withKEK(2, 1)), open(t, source, c, withKEK(2, 0)))
			serve("after the rewrap")
			r := keyring.KeysetRotation{Store: both.db, KEK: kek(2), Drop: true, Progress: quiet, Complain: func(string) {}}
			if older, err := r.Run(t.Context()); err != nil || older != 0 {
				t.Fatalf("rotation of the keyset: got %d, %v", older, err)
			}
			running = append(running[1:], open(t, source, c, withKEK(2, 0))) // the filter with only the old key ends
			serve("after a rotation of the keyset")
			db, err := keystore.Open(t.Context(), keystore.Config{Source: source, PostgreSQL: postgres.Open, Clock: c})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close() //nolint:errcheck // a test's store
			if _, err := keyring.Open(t.Context(), keyring.Config{Store: db, KEK: kek(1), Clock: c}); err == nil {
				t.Error("the replaced key still opens the keys")
			}
		})
	}
}

// TestOnceSurvivesRotation checks that retries are still recognized after a rotation of the keyset
// and after a new key-encryption key. The store holds neither the Idempotency-Key nor its plain
// hash.
func TestOnceSurvivesRotation(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source, c := e.Source(t), clock.NewFake(birth)
			f := open(t, source, c)
			f.current(t, ec)
			in := keyring.Rotate{Tenant: shop, Alg: ec, Once: keyring.Once{Key: "order 1", Fingerprint: []byte("print")}}
			show := func(r keyring.Rotated) keyring.Response {
				return keyring.Response{Status: 200, Body: []byte(r.Current.Kid)}
			}
			done, err := f.Rotate(t.Context(), in, show)
			if err != nil || done.Replayed {
				t.Fatalf("got %+v, %v", done, err)
			}
			wantReplay := func(when string, f filter) {
				t.Helper()
				again, err := f.Rotate(t.Context(), in, show)
				if err != nil || !again.Replayed || string(again.Body) != string(done.Body) {
					t.Errorf("%s: got %+v, %v, want the same response again", when, again, err)
				}
			}
			wantReplay("immediately", f)
			if _, err := f.rotateKeyset(t.Context(), true, quiet); err != nil {
				t.Fatal(err)
			}
			wantReplay("after a rotation of the keyset", f)
			if err := keyring.Rewrap(t.Context(), f.db, kek(1), kek(2)); err != nil {
				t.Fatal(err)
			}
			wantReplay("after a rewrap", f)
			f = open(t, source, c, withKEK(2, 0))
			wantReplay("after a rewrap and a restart", f)
			other := in
			other.Tenant = shop[:len(shop)-1] + "x"
			other.Once.Fingerprint = []byte("another")
			if out, err := f.Rotate(t.Context(), other, show); err != nil || out.Replayed {
				t.Errorf("the same key of another merchant: got %+v, %v", out, err)
			}
			in.Once.Fingerprint = []byte("another")
			if _, err := f.Rotate(t.Context(), in, show); !errors.Is(err, keyring.ErrKeyReused) {
				t.Errorf("another request: got %v", err)
			}
			for name, plain := range guessableKeys("order 1") {
				err := f.db.Update(
					t.Context(), func(tx *keystore.Tx) error { _, err := tx.Response(shop, plain); return err },
				)
				if !errors.Is(err, keystore.ErrNotFound) {
					t.Errorf("stored under %s: got %v", name, err)
				}
			}
		})
	}
}

// guessableKeys returns the values that an attacker can compute from an Idempotency-Key without a
// secret.
func guessableKeys(key string) map[string]string {
	sum := sha256.Sum256([]byte(key))
	return map[string]string{"itself": key, "its hash": hex.EncodeToString(sum[:])}
}
