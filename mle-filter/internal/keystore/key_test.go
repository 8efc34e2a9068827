package keystore_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// TestKeys checks that a key is read as it was written, in whole milliseconds, by every process. A
// tenant has at most one key in each of the states next and current.
func TestKeys(t *testing.T) {
	t.Parallel()
	each(t, func(w world) {
		t := w.T
		k := current("one", shop, birth)
		MustUpdate(t, w.a, func(tx *keystore.Tx) error { return tx.InsertKey(k) })
		got, err := w.b.Key(t.Context(), "one")
		if err != nil || !reflect.DeepEqual(got, k) {
			t.Errorf("got %+v, %v, want %+v", got, err, k)
		}
		for what, second := range map[string]*keystore.Key{
			"a second current key": current("two", shop, birth), "the same id": current("one", other, birth),
		} {
			if err := w.b.Update(
				t.Context(), func(tx *keystore.Tx) error { return tx.InsertKey(second) },
			); !errors.Is(err, keystore.ErrConflict) {
				t.Errorf("%s: got %v", what, err)
			}
		}
		k.SupersededAt, k.RetireAt, k.Sealed, k.DueAt = birth.Add(time.Hour), birth.Add(2*time.Hour), nil, time.Time{}
		MustUpdate(t, w.b, func(tx *keystore.Tx) error {
			return errors.Join(tx.UpdateKey(k), tx.InsertKey(current("two", shop, birth.Add(time.Millisecond))))
		})
		all, err := w.a.Keys(t.Context(), shop)
		if err != nil || len(all) != 2 || !reflect.DeepEqual(all[0], k) || all[1].Kid != "two" {
			t.Errorf("got %+v, %v", all, err)
		}
		missing := current("three", shop, birth)
		if err := w.a.Update(
			t.Context(), func(tx *keystore.Tx) error { return tx.UpdateKey(missing) },
		); !errors.Is(err, keystore.ErrConflict) {
			t.Errorf("a key that is not there: got %v", err)
		}
		if _, err := w.a.Key(t.Context(), "three"); !errors.Is(err, keystore.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		tenants, err := w.a.Tenants(t.Context())
		if err != nil || !slices.Equal(tenants, []string{shop}) {
			t.Errorf("got %v, %v", tenants, err)
		}
	})
}

// TestChanges checks that each transaction increases the revision, even without a change, and that
// the changed tenants are listed.
func TestChanges(t *testing.T) {
	t.Parallel()
	each(t, func(w world) {
		t := w.T
		at := func() int64 {
			t.Helper()
			n, err := w.b.Revision(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		changed := func(since int64, want ...string) {
			t.Helper()
			got, err := w.b.ChangedSince(t.Context(), since)
			slices.Sort(got)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("since %d: got %v, %v, want %v", since, got, err, want)
			}
		}
		before := at()
		MustUpdate(t, w.a, func(tx *keystore.Tx) error { return tx.InsertKey(current("one", shop, birth)) })
		middle := at()
		MustUpdate(t, w.a, func(tx *keystore.Tx) error {
			return tx.PutResponseKey(&keystore.ResponseKey{Tenant: other, Kid: "r", Alg: ec, JWK: []byte("j"), CreatedAt: birth})
		})
		changed(before, shop, other)
		changed(middle, other)
		if err := w.a.Update(
			t.Context(), func(*keystore.Tx) error { return keystore.ErrConflict },
		); !errors.Is(err, keystore.ErrConflict) || at() != middle+1 {
			t.Errorf("a write that was not made: got %v, and revision %d after %d", err, at(), middle+1)
		}
		changed(at())
	})
}

// TestWritersTakeTurns checks that of two processes that replace the same key concurrently, one
// does, and the other reads the result.
func TestWritersTakeTurns(t *testing.T) {
	t.Parallel()
	each(t, func(w world) {
		t := w.T
		MustUpdate(t, w.a, func(tx *keystore.Tx) error { return tx.InsertKey(current("k0", shop, birth)) })
		var wg sync.WaitGroup
		var done atomic.Int32
		for i := range 10 {
			wg.Go(func() {
				db := []*keystore.DB{w.a, w.b}[i%2]
				err := db.Update(t.Context(), func(tx *keystore.Tx) error {
					keys, err := tx.Keys(shop)
					if err != nil || len(keys) > 1 {
						return err
					}
					old := keys[0]
					old.SupersededAt = tx.Now
					if err := tx.UpdateKey(old); err != nil {
						return err
					}
					done.Add(1)
					return errors.Join(
						tx.InsertKey(current(fmt.Sprint("new", i), shop, tx.Now)), tx.Announce(announcement(fmt.Sprint("a", i))),
					)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		n, err := w.a.Undelivered(t.Context())
		if done.Load() != 1 || err != nil || n != 1 {
			t.Errorf("got %d rotations and %d announcements, %v, want one of each", done.Load(), n, err)
		}
	})
}

// TestSpares checks that each spare key is taken once, the oldest first, by concurrent takers.
func TestSpares(t *testing.T) {
	t.Parallel()
	each(t, func(w world) {
		t := w.T
		const spares, takers = 5, 8
		for i := range spares {
			w.clock.Advance(time.Millisecond)
			MustUpdate(t, w.a, func(tx *keystore.Tx) error {
				return tx.InsertSpare(current(fmt.Sprint("s", spares-i), "", tx.Now))
			})
		}
		dies := errors.New("the process dies here")
		err := w.b.Update(t.Context(), func(tx *keystore.Tx) error {
			k, err := tx.TakeSpare(ec)
			if err != nil || k.Kid != "s5" || string(k.Sealed) != "sealed s5" {
				t.Errorf("got %+v, %v, want the oldest", k, err)
			}
			return dies
		})
		if !errors.Is(err, dies) {
			t.Errorf("got %v", err)
		}
		var wg sync.WaitGroup
		var taken sync.Map
		var none atomic.Int32
		for i := range takers {
			wg.Go(func() {
				err := []*keystore.DB{w.a, w.b}[i%2].Update(t.Context(), func(tx *keystore.Tx) error {
					k, err := tx.TakeSpare(ec)
					if err == nil {
						if _, twice := taken.LoadOrStore(k.Kid, true); twice {
							t.Errorf("%s was taken twice", k.Kid)
						}
					}
					return err
				})
				if errors.Is(err, keystore.ErrNotFound) {
					none.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n, err := w.a.Spares(t.Context(), ec); err != nil || n != 0 || none.Load() != takers-spares {
			t.Errorf("got %d left, %v, and %d who got none", n, err, none.Load())
		}
	})
}

// TestPurge checks that ended keys are removed after their time, to the millisecond. Keys that are
// in use or due for the schedule stay.
func TestPurge(t *testing.T) {
	t.Parallel()
	each(t, func(w world) {
		t := w.T
		end := birth.Add(time.Hour)
		over := func(kid string, change func(*keystore.Key)) *keystore.Key {
			k := current(kid, shop, birth)
			k.Sealed, k.DueAt, k.SupersededAt, k.RetireAt = nil, time.Time{}, birth, end
			change(k)
			return k
		}
		keys := []*keystore.Key{
			over("retired", func(*keystore.Key) {}),
			over("revoked", func(k *keystore.Key) { k.RevokedAt = end }),
			over("revoked before it was current", func(k *keystore.Key) {
				k.ActivatedAt, k.SupersededAt, k.RetireAt, k.RevokedAt = time.Time{}, time.Time{}, time.Time{}, end
			}),
			over("waited for", func(k *keystore.Key) { k.RevokedAt, k.DueAt = end, end }),
			over("not wiped yet", func(k *keystore.Key) { k.Sealed = []byte("x") }),
			over("revoked later", func(k *keystore.Key) { k.RevokedAt = end.Add(time.Hour) }),
			current("current", shop, birth),
		}
		w.clock.Set(end)
		MustUpdate(t, w.a, func(tx *keystore.Tx) (err error) {
			for _, k := range keys {
				err = errors.Join(err, tx.InsertKey(k))
			}
			r := keystore.ResponseKey{Tenant: shop, Kid: "r", Alg: ec, JWK: []byte("j"), CreatedAt: birth}
			return errors.Join(err, tx.PutResponseKey(&r), tx.DeleteResponseKey(shop, "r"))
		})
		count := func(before time.Time, want int) {
			t.Helper()
			if err := w.b.Purge(t.Context(), before); err != nil {
				t.Fatal(err)
			}
			if got, err := w.a.Keys(t.Context(), shop); err != nil || len(got) != want {
				t.Errorf("before %s: got %d keys, %v, want %d", before, len(got), err, want)
			}
		}
		count(end, len(keys))
		count(end.Add(time.Millisecond), len(keys)-3)
		count(end.Add(24*time.Hour), len(keys)-4)
	})
}
