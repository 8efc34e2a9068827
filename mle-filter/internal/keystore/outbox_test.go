package keystore_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// TestMadeAndAnnounced checks that a key and its announcement are written both or neither, wherever
// the process dies.
func TestMadeAndAnnounced(t *testing.T) {
	t.Parallel()
	each(t, func(w world) {
		t := w.T
		dies := errors.New("the process dies here")
		write := func(until int) func(*keystore.Tx) error {
			return func(tx *keystore.Tx) error {
				for i, step := range []func() error{
					func() error { return tx.InsertKey(current("one", shop, birth)) },
					func() error { return tx.Announce(announcement("one")) },
					func() error {
						return tx.StoreResponse(
							shop, "k", keystore.Response{Fingerprint: []byte("f"), Status: 200, Body: []byte("b")},
						)
					},
				} {
					if i == until {
						return dies
					}
					if err := step(); err != nil {
						return err
					}
				}
				if until == 3 {
					panic(dies)
				}
				return nil
			}
		}
		there := func(want int) {
			t.Helper()
			keys, err := w.b.Keys(t.Context(), shop)
			n, wrong := w.b.Undelivered(t.Context())
			if err := errors.Join(err, wrong); err != nil || len(keys) != want || n != want {
				t.Errorf("got %d keys and %d announcements, %v, want %d of each", len(keys), n, err, want)
			}
		}
		for until := range 3 {
			if err := w.a.Update(t.Context(), write(until)); !errors.Is(err, dies) {
				t.Errorf("step %d: got %v", until, err)
			}
			there(0)
		}
		func() {
			defer func() { _ = recover() }()
			_ = w.a.Update(t.Context(), write(3))
		}()
		there(0)
		MustUpdate(t, w.a, write(4))
		there(1)
	})
}

// TestAnnouncedOnce checks that of many processes, only one at a time holds an announcement, and
// that a delivered one is not sent again.
func TestAnnouncedOnce(t *testing.T) {
	t.Parallel()
	each(t, func(w world) {
		t := w.T
		const all = 12
		MustUpdate(t, w.a, func(tx *keystore.Tx) (err error) {
			for i := range all {
				err = errors.Join(err, tx.Announce(announcement(fmt.Sprint(i))))
			}
			return err
		})
		if err := w.b.Update(
			t.Context(), func(tx *keystore.Tx) error { return tx.Announce(announcement("0")) },
		); !errors.Is(err, keystore.ErrConflict) {
			t.Errorf("the same once more: got %v", err)
		}
		var taken sync.Map
		claimAll := func() {
			var wg sync.WaitGroup
			for i := range 6 {
				db := []*keystore.DB{w.a, w.b}[i%2]
				wg.Go(func() {
					for {
						a, err := db.ClaimAnnouncement(t.Context(), time.Minute)
						if errors.Is(err, keystore.ErrNotFound) {
							return
						}
						if err != nil {
							t.Error(err)
							return
						}
						if _, twice := taken.LoadOrStore(fmt.Sprint(a.ID, "/", a.Attempts), a); twice {
							t.Errorf("%s was taken twice", a.ID)
						}
						if a.ID != "0" && a.ID != "1" { // for these two, the process dies before core's response
							if err := db.Delivered(t.Context(), a.ID); err != nil {
								t.Error(err)
							}
						}
					}
				})
			}
			wg.Wait()
		}
		claimAll()
		left(t, w, 2)
		w.clock.Advance(time.Minute - time.Millisecond)
		if _, err := w.a.ClaimAnnouncement(t.Context(), time.Minute); !errors.Is(err, keystore.ErrNotFound) {
			t.Errorf("while its holder may still be there: got %v", err)
		}
		w.clock.Advance(time.Millisecond)
		claimAll()
		first, ok := taken.Load("0/1")
		if _, again := taken.Load("0/2"); !again || !ok {
			t.Fatal("an undelivered announcement was not claimed again")
		}
		claimed := first.(*keystore.Announcement)
		if err := w.a.Postpone(t.Context(), claimed.ID, claimed.Attempts, birth); err != nil { // the first claim returns late
			t.Error(err)
		}
		if _, err := w.b.ClaimAnnouncement(t.Context(), time.Minute); !errors.Is(err, keystore.ErrNotFound) {
			t.Errorf("who holds it no more has postponed it: got %v", err)
		}
		for range 2 {
			if err := errors.Join(w.a.Delivered(t.Context(), "0"), w.b.Delivered(t.Context(), "1")); err != nil {
				t.Error(err)
			}
		}
		left(t, w, 0)
	})
}

func left(t *testing.T, w world, want int) {
	t.Helper()
	if n, err := w.a.Undelivered(t.Context()); err != nil || n != want {
		t.Errorf("got %d left, %v, want %d", n, err, want)
	}
}

// TestForget checks that stored responses and delivered announcements are removed after their time.
// Undelivered announcements stay.
func TestForget(t *testing.T) {
	t.Parallel()
	each(t, func(w world) {
		t := w.T
		response := keystore.Response{Fingerprint: []byte("f"), Status: 200, Body: []byte("b")}
		MustUpdate(t, w.a, func(tx *keystore.Tx) error {
			return errors.Join(
				tx.Announce(announcement("delivered")), tx.Announce(announcement("waits")), tx.StoreResponse(shop, "k", response),
			)
		})
		if err := w.a.Delivered(t.Context(), "delivered"); err != nil {
			t.Fatal(err)
		}
		kept := func(want error) {
			t.Helper()
			MustUpdate(t, w.b, func(tx *keystore.Tx) error {
				if _, err := tx.Response(shop, "k"); !errors.Is(err, want) {
					t.Errorf("at %s: got %v, want %v", tx.Now, err, want)
				}
				return nil
			})
		}
		for _, before := range []time.Time{birth, birth.Add(time.Millisecond)} {
			kept(nil)
			if err := w.a.Forget(t.Context(), before); err != nil {
				t.Fatal(err)
			}
		}
		kept(keystore.ErrNotFound)
		left(t, w, 1)
		// The first one was removed.
		MustUpdate(t, w.a, func(tx *keystore.Tx) error { return tx.Announce(announcement("delivered")) })
		MustUpdate(t, w.a, func(tx *keystore.Tx) error { return tx.StoreResponse(shop, "k", response) })
		w.clock.Advance(keystore.ResponseLifetime - time.Millisecond)
		kept(nil)
		w.clock.Advance(time.Millisecond)
		kept(keystore.ErrNotFound)
	})
}

// TestAnnouncementsOfAClockThatWasAhead: announcements that a clock a day ahead wrote, claimed or
// postponed are due after it was set back. The pause of a right clock stays.
func TestAnnouncementsOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	each(t, func(w world) {
		t := w.T
		MustUpdate(t, w.a, func(tx *keystore.Tx) error { return tx.Announce(announcement("old")) })
		w.clock.Advance(24 * time.Hour)
		postponed, err := w.a.ClaimAnnouncement(t.Context(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.a.Postpone(t.Context(), postponed.ID, postponed.Attempts, w.clock.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(-23 * time.Hour)
		MustUpdate(t, w.a, func(tx *keystore.Tx) error { return tx.Announce(announcement("new")) })
		w.clock.Advance(-time.Hour)
		for range 2 {
			if _, err := w.b.ClaimAnnouncement(t.Context(), time.Minute); err != nil {
				t.Errorf("after the clock was set back: got %v", err)
			}
		}
		if _, err := w.b.ClaimAnnouncement(t.Context(), time.Minute); !errors.Is(err, keystore.ErrNotFound) {
			t.Errorf("both are claimed: got %v, want %v", err, keystore.ErrNotFound)
		}
	})
}
