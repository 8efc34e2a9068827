package keyring_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestRotateNow checks that a filter can use a new key that it has not read yet. The replaced key
// must work for the requested time.
func TestRotateNow(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source := e.Source(t)
			a, b := two(t, source)
			first := a.current(t, ec).Current
			if err := b.works(t, shop, first); err != nil {
				t.Fatal(err)
			}
			keep := time.Hour
			done := a.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec, Keep: &keep})
			if done.Previous == nil || done.Previous.Kid != first.Kid || !done.Previous.ExpiresAt.Equal(birth.Add(keep)) ||
				done.Current.Kid == first.Kid {
				t.Fatalf("got %+v", done)
			}
			for _, k := range []keyring.Key{first, done.Current} {
				if err := b.works(t, shop, k); err != nil {
					t.Errorf("%s: %v", k.Kid, err)
				}
			}
			b.clock.Advance(keep - time.Millisecond)
			if err := b.works(t, shop, first); err != nil {
				t.Error(err)
			}
			b.clock.Advance(time.Millisecond)
			if err := b.works(t, shop, first); !errors.Is(err, engine.ErrNoKey) {
				t.Errorf("after its time: got %v", err)
			}
			none := time.Duration(0)
			second := a.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec, Keep: &none})
			if err := a.works(t, shop, done.Current); !errors.Is(err, engine.ErrNoKey) ||
				second.Previous.State != keyring.Retired {
				t.Errorf("kept for no time: got %v, %s", err, second.Previous.State)
			}
		})
	}
}

// TestRotateTheNext checks that a rotation on demand activates the key that is already published.
func TestRotateTheNext(t *testing.T) {
	t.Parallel()
	f := open(t, storetest.SQLite(t), clock.NewFake(birth))
	f.current(t, ec)
	f.clock.Advance(80 * day)
	f.must(t, f.Maintain)
	next := f.current(t, ec).Next
	if got := f.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec}); got.Current.Kid != next.Kid ||
		!got.Current.NotBefore.Equal(birth.Add(80*day)) {
		t.Errorf("got %+v, want %s", got.Current, next.Kid)
	}
	f.clock.Advance(76 * day)
	f.must(t, f.Maintain)
	if p := f.current(t, ec); p.Next == nil || p.Current.Kid != next.Kid {
		t.Errorf("the schedule goes on from the rotation: got %+v", p)
	}
}

// TestRotateTogether checks that concurrent rotations, by schedule or on demand, result in one
// rotation and one event.
func TestRotateTogether(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source := e.Source(t)
			a, b := two(t, source)
			first := a.current(t, ec).Current
			var wg sync.WaitGroup
			var made atomic.Int32
			start := make(chan struct{})
			for i := range 8 {
				f := []filter{a, b}[i%2]
				wg.Go(func() {
					<-start
					_, err := f.Rotate(t.Context(), keyring.Rotate{
						Tenant: shop, Alg: ec, From: first.Kid,
					}, func(r keyring.Rotated) keyring.Response {
						if r.Previous != nil {
							made.Add(1)
						}
						if r.Current.Kid == first.Kid {
							t.Error("the key that was to be replaced is current")
						}
						return keyring.Response{}
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			close(start)
			wg.Wait()
			if got := made.Load(); got != 1 {
				t.Errorf("rotations: got %d, want 1", got)
			}
			a.clock.Advance(90 * day)
			a.must(t, a.Maintain)
			a.clock.Advance(14 * day)
			for _, f := range []filter{a, b, a, b} {
				wg.Go(func() {
					if err := f.Maintain(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			keys, err := a.List(t.Context(), shop)
			if err != nil || len(keys) != 2 { // the first one ended 74 days ago and was deleted
				t.Errorf("got %d keys, %v, want 2", len(keys), err)
			}
			if n, err := a.db.Undelivered(t.Context()); err != nil || n != 2 {
				t.Errorf("events: got %d, %v, want 2", n, err)
			}
		})
	}
}

// TestFirstTogether checks that if several filters serve a new merchant at the same time, only one
// makes its key.
func TestFirstTogether(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source := e.Source(t)
			a, b := two(t, source)
			kids := make([]string, 8)
			var wg sync.WaitGroup
			for i := range kids {
				f := []filter{a, b}[i%2]
				wg.Go(func() {
					p, err := f.Current(t.Context(), shop, ec)
					if err != nil {
						t.Error(err)
					}
					kids[i] = p.Current.Kid
				})
			}
			wg.Wait()
			for _, kid := range kids {
				if kid != kids[0] {
					t.Errorf("got %v", kids)
				}
			}
		})
	}
}

// TestRotateUnderUse rotates keys repeatedly. Requests encrypted to a key that was current can
// always be read, in all filters.
func TestRotateUnderUse(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source := e.Source(t)
			a, b := two(t, source)
			a.current(t, ec)
			var wg sync.WaitGroup
			stop := make(chan struct{})
			for _, pair := range [][2]filter{{a, b}, {b, a}, {a, a}, {b, b}} {
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						p, err := pair[0].Current(t.Context(), shop, ec)
						if err == nil {
							_, _, err = pair[1].Private(t.Context(), shop, p.Current.Kid)
						}
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			for i := range 10 {
				[]filter{a, b}[i%2].rotate(t, keyring.Rotate{Tenant: shop, Alg: ec})
				a.clock.Advance(time.Second)
			}
			close(stop)
			wg.Wait()
		})
	}
}

// TestRotateOnce checks that a retry with the same Idempotency-Key gets the same response, and that
// another request with that key is rejected.
func TestRotateOnce(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source := e.Source(t)
			a, b := two(t, source)
			first := a.current(t, ec).Current
			rotate := func(f filter, tenant, print string) (keyring.Response, error) {
				return f.Rotate(t.Context(), keyring.Rotate{
					Tenant: tenant, Alg: ec, Once: keyring.Once{Key: "k", Fingerprint: []byte(print)},
				},
					func(r keyring.Rotated) keyring.Response {
						return keyring.Response{Status: 200, Body: []byte(r.Current.Kid)}
					})
			}
			response, err := rotate(a, shop, "one")
			if err != nil || response.Replayed || string(response.Body) == first.Kid {
				t.Fatalf("got %+v, %v", response, err)
			}
			again, err := rotate(b, shop, "one")
			if err != nil || !again.Replayed || again.Status != 200 || string(again.Body) != string(response.Body) {
				t.Errorf("got %+v, %v, want the same", again, err)
			}
			if _, err := rotate(b, shop, "two"); !errors.Is(err, keyring.ErrKeyReused) {
				t.Errorf("another request: got %v", err)
			}
			if got, err := rotate(b, other, "two"); err != nil || got.Replayed {
				t.Errorf("another merchant: got %+v, %v", got, err)
			}
			a.clock.Advance(24*time.Hour - time.Millisecond)
			if got, err := rotate(a, shop, "one"); err != nil || !got.Replayed {
				t.Errorf("just within 24 hours: got %+v, %v", got, err)
			}
			a.clock.Advance(time.Millisecond)
			if got, err := rotate(a, shop, "two"); err != nil || got.Replayed {
				t.Errorf("after 24 hours: got %+v, %v", got, err)
			}
			if _, err := a.Rotate(
				t.Context(), keyring.Rotate{Tenant: other, Alg: ec, From: first.Kid}, nil,
			); !errors.Is(err, engine.ErrNoKey) {
				t.Errorf("from another merchant's key: got %v", err)
			}
		})
	}
}

// TestRevoke checks that after the call returns, all filters reject the revoked key and another one
// is current.
func TestRevoke(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source := e.Source(t)
			a, b := two(t, source)
			first := b.current(t, ec).Current
			if err := b.works(t, shop, first); err != nil { // from memory, from now on
				t.Error(err)
			}
			done, err := a.Revoke(t.Context(), first.Kid)
			if err != nil || done.Previous.State != keyring.Revoked || done.Current.Kid == first.Kid {
				t.Fatalf("got %+v, %v", done, err)
			}
			for i, f := range []filter{a, b} {
				if err := f.works(t, shop, first); !errors.Is(err, engine.ErrNoKey) {
					t.Errorf("filter %d: got %v", i, err)
				}
				if got := f.current(t, ec).Current.Kid; got != done.Current.Kid {
					t.Errorf("filter %d: got %s, want %s", i, got, done.Current.Kid)
				}
			}
			if again, err := b.Revoke(t.Context(), first.Kid); err != nil || again.Previous.State != keyring.Revoked {
				t.Errorf("again: got %+v, %v", again, err)
			}
			stored, err := a.db.Key(t.Context(), first.Kid)
			if err != nil || stored.Sealed != nil {
				t.Errorf("the private half: got %d bytes, %v", len(stored.Sealed), err)
			}
			if n, err := a.db.Undelivered(t.Context()); err != nil || n != 1 {
				t.Errorf("events: got %d, %v, want 1", n, err)
			}
			if _, err := a.Revoke(t.Context(), "no key"); !errors.Is(err, engine.ErrNoKey) {
				t.Errorf("no key: got %v", err)
			}
		})
	}
}

// TestRevokeNext checks that after a next key was revoked, another one is published.
func TestRevokeNext(t *testing.T) {
	t.Parallel()
	f := open(t, storetest.SQLite(t), clock.NewFake(birth))
	f.current(t, ec)
	f.clock.Advance(80 * day)
	f.must(t, f.Maintain)
	next := *f.current(t, ec).Next
	if _, err := f.Revoke(t.Context(), next.Kid); err != nil {
		t.Fatal(err)
	}
	f.must(t, f.Maintain)
	p := f.current(t, ec)
	if p.Next == nil || p.Next.Kid == next.Kid || !p.Next.NotBefore.Equal(birth.Add(94*day)) {
		t.Errorf("got %+v", p.Next)
	}
}

// TestRevokeRSA checks that without a spare, there is no RSA key until one is made.
func TestRevokeRSA(t *testing.T) {
	t.Parallel()
	f := open(t, storetest.SQLite(t), clock.NewFake(birth))
	f.must(t, f.Fill)
	first := f.current(t, rsa).Current
	if _, err := f.Revoke(t.Context(), first.Kid); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Current(t.Context(), shop, rsa); !errors.Is(err, keyring.ErrNotReady) {
		t.Errorf("got %v", err)
	}
	f.must(t, f.Maintain)
	f.must(t, f.Fill)
	f.must(t, f.Maintain)
	if got := f.current(t, rsa).Current; got.Kid == first.Kid || f.works(t, shop, got) != nil {
		t.Errorf("got %+v", got)
	}
	if n, err := f.db.Undelivered(t.Context()); err != nil || n != 1 {
		t.Errorf("events: got %d, %v, want 1", n, err)
	}
	f.must(t, f.Maintain)
	if due, err := f.db.Due(t.Context(), f.clock.Now()); err != nil || len(due) != 0 {
		t.Errorf("still due: %v, %v", due, err)
	}
}

func TestRetire(t *testing.T) {
	t.Parallel()
	f := open(t, storetest.SQLite(t), clock.NewFake(birth))
	first := f.current(t, ec).Current
	if _, err := f.Retire(t.Context(), "", first.Kid); !errors.Is(err, keyring.ErrState) {
		t.Errorf("a current key: got %v", err)
	}
	f.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec})
	for range 2 {
		if _, err := f.Retire(t.Context(), "", first.Kid); err != nil {
			t.Error(err)
		}
		if err := f.works(t, shop, first); !errors.Is(err, engine.ErrNoKey) {
			t.Errorf("got %v", err)
		}
	}
}

// TestReadWhileRotating checks that data read before a rotation does not enter memory after a later
// read.
func TestReadWhileRotating(t *testing.T) {
	t.Parallel()
	a, b := two(t, storetest.SQLite(t))
	first := a.current(t, ec).Current
	none := time.Duration(0)
	err := b.ReadSlowly(t.Context(), shop, func() {
		a.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec, Keep: &none})
		b.current(t, ec) // it reads the rotation
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.works(t, shop, first); !errors.Is(err, engine.ErrNoKey) {
		t.Errorf("got %v, want no key", err)
	}
}
