package keystore_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore/postgres"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestExisting checks that with Existing no store is created, and that an existing store opens.
func TestExisting(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source := e.Source(t)
			existing := func() error {
				db, err := keystore.Open(t.Context(), keystore.Config{Source: source, PostgreSQL: postgres.Open, Existing: true})
				if err != nil {
					return err
				}
				return db.Close()
			}
			for range 2 { // the first call must create nothing
				if err := existing(); !errors.Is(err, keystore.ErrNoStore) {
					t.Errorf("got %v", err)
				}
			}
			MustOpen(t, source, clock.NewFake(birth))
			if err := existing(); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := keystore.Open(t.Context(), keystore.Config{Source: "postgres:///keys"}); err == nil {
		t.Error("a program without PostgreSQL has opened it")
	}
}

// TestKeyset checks that the first keyset is made once, and that only a process that has read a
// keyset replaces it.
func TestKeyset(t *testing.T) {
	t.Parallel()
	each(t, func(w world) {
		t := w.T
		if _, err := w.a.Keyset(t.Context()); !errors.Is(err, keystore.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		keyset := func(db *keystore.DB, sealed string) error {
			return db.Update(t.Context(), func(tx *keystore.Tx) error { return tx.MakeKeyset([]byte(sealed), []byte("name")) })
		}
		if err := keyset(w.a, "one"); err != nil {
			t.Fatal(err)
		}
		if err := keyset(w.b, "two"); !errors.Is(err, keystore.ErrConflict) {
			t.Errorf("a second one: got %v", err)
		}
		first, err := w.a.Keyset(t.Context())
		if err != nil || !first.RotatedAt.Equal(birth) || !first.WrappedAt.Equal(birth) || string(first.HMACKey) != "name" {
			t.Errorf("the first: got %+v, %v", first, err)
		}
		second := keystore.Keyset{
			Sealed: []byte("two"), Generation: 1, RotatedAt: birth.Add(1e9), WrappedAt: birth.Add(2e9), HMACKey: []byte("other"),
		}
		for i, want := range []error{nil, keystore.ErrConflict} {
			err := w.b.Update(t.Context(), func(tx *keystore.Tx) error { return tx.ReplaceKeyset(first, second) })
			if !errors.Is(err, want) {
				t.Errorf("replacement %d: got %v, want %v", i, err, want)
			}
		}
		if got, err := w.a.Keyset(t.Context()); err != nil || !reflect.DeepEqual(got, second) {
			t.Errorf("got %+v, %v, want %+v", got, err, second)
		}
	})
}

// TestAway checks that IsUnavailable distinguishes an unreachable store from other errors.
func TestAway(t *testing.T) {
	t.Parallel()
	each(t, func(w world) {
		t := w.T
		ctx, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		_, late := w.a.Revision(ctx)
		if !w.a.IsUnavailable(late) {
			t.Errorf("too late: got %v", late)
		}
		conflict := w.a.Update(t.Context(), func(tx *keystore.Tx) error { return tx.UpdateKey(current("none", shop, birth)) })
		if w.a.IsUnavailable(conflict) || w.a.IsUnavailable(keystore.ErrNotFound) {
			t.Errorf("a conflict: got %v", conflict)
		}
		if err := w.a.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestResponseKeys checks that a key is registered, proven and deleted once each, and that the
// newest proven key comes first.
func TestResponseKeys(t *testing.T) {
	t.Parallel()
	each(t, func(w world) {
		t := w.T
		put := func(kid string) error {
			return w.a.Update(t.Context(), func(tx *keystore.Tx) error {
				return tx.PutResponseKey(&keystore.ResponseKey{
					Tenant: shop, Kid: kid, Alg: ec, JWK: []byte("j"), CreatedAt: tx.Now, Challenge: []byte("h"),
					ChallengeExpiresAt: tx.Now.Add(1e9),
				})
			})
		}
		prove := func(kid string) error {
			return w.b.Update(t.Context(), func(tx *keystore.Tx) error {
				k := &keystore.ResponseKey{Tenant: shop, Kid: kid}
				tx.Prove(k)
				return tx.ProveResponseKey(k)
			})
		}
		if err := errors.Join(put("a"), put("b"), put("a"), prove("b"), prove("a")); err != nil {
			t.Fatal(err)
		}
		if err := put("a"); !errors.Is(err, keystore.ErrConflict) {
			t.Errorf("over a proven key: got %v", err)
		}
		if err := prove("a"); !errors.Is(err, keystore.ErrConflict) {
			t.Errorf("proven again: got %v", err)
		}
		keys, err := w.b.ResponseKeys(t.Context(), shop)
		if err != nil || len(keys) != 2 || keys[0].Kid != "a" || keys[1].Kid != "b" || keys[0].Challenge != nil ||
			!keys[0].ProvenAt.Equal(birth) {
			t.Errorf("got %+v, %v", keys, err)
		}
		for _, want := range []error{nil, keystore.ErrNotFound} {
			if err := w.a.Update(
				t.Context(), func(tx *keystore.Tx) error { return tx.DeleteResponseKey(shop, "a") },
			); !errors.Is(err, want) {
				t.Errorf("deleted: got %v, want %v", err, want)
			}
		}
		if err := errors.Join(put("a"), put("late")); err != nil { // a deleted key can be registered again
			t.Fatal(err)
		}
		w.clock.Advance(2e9)
		MustUpdate(t, w.a, func(tx *keystore.Tx) error { return tx.ForgetUnproven(shop, tx.Now) })
		if keys, err := w.a.ResponseKeys(t.Context(), shop); err != nil || len(keys) != 1 || keys[0].Kid != "b" {
			t.Errorf("got %+v, %v, want b alone", keys, err)
		}
	})
}

// TestEndedWrite checks that a transaction whose context ends returns the context's error, even if
// the driver only reports the rollback.
func TestEndedWrite(t *testing.T) {
	t.Parallel()
	each(t, func(w world) {
		ctx, cancel := context.WithCancel(w.Context())
		err := w.a.Update(ctx, func(*keystore.Tx) error {
			cancel()
			return w.b.Update(w.Context(), func(*keystore.Tx) error { return nil }) // it waits until the first is rolled back
		})
		if !errors.Is(err, context.Canceled) {
			w.Errorf("got %v, want it to be cancelled", err)
		}
	})
}
