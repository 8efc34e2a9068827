package keyring_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
)

// rotateKeyset rotates the keyset and returns the number of old keys that remain.
func (f filter) rotateKeyset(ctx context.Context, drop bool, progress func(done, all int)) (int, error) {
	r := keyring.KeysetRotation{Store: f.db, KEK: kek(1), Drop: drop, Progress: progress, Complain: func(string) {}}
	return r.Run(ctx)
}

func quiet(int, int) {}

// TestKeysetRotation rotates the keyset repeatedly and drops its old keys, while filters serve and
// rotate. No key is lost.
func TestKeysetRotation(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source, c := e.Source(t), clock.NewFake(birth)
			a, b, operator := open(t, source, c), open(t, source, c), open(t, source, c)
			a.must(t, a.Fill)
			first, stop := []keyring.Key{a.current(t, ec).Current, a.current(t, rsa).Current}, make(chan struct{})
			a.must(t, a.Fill) // a spare key must survive as well
			var wg sync.WaitGroup
			for _, f := range []filter{a, b} {
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						f.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec})
						for _, k := range append([]keyring.Key{f.current(t, ec).Current}, first...) {
							if err := f.works(t, shop, k); err != nil {
								t.Errorf("%s: %v", k.Alg, err)
							}
						}
					}
				})
			}
			for i := range 6 {
				if older, err := operator.rotateKeyset(t.Context(), i%2 == 1, quiet); err != nil || older != (i+1)%2 {
					t.Errorf("rotation %d: got %d older keys, %v", i, older, err)
				}
			}
			close(stop)
			wg.Wait()
			fresh := open(t, source, c)
			for _, k := range first {
				if err := fresh.works(t, shop, k); err != nil {
					t.Errorf("after a restart: %v", err)
				}
			}
			if _, err := fresh.Current(t.Context(), other, rsa); err != nil {
				t.Errorf("the spare key: %v", err)
			}
		})
	}
}

// TestKeysetResumed checks that the next rotation completes an interrupted one, without another
// key.
func TestKeysetResumed(t *testing.T) {
	t.Parallel()
	f := open(t, storetest.SQLite(t), clock.NewFake(birth))
	const keys = 250
	var kids []string
	for i := range keys {
		p, err := f.Current(t.Context(), fmt.Sprintf("mer_%d/test", i), ec)
		if err != nil {
			t.Fatal(err)
		}
		kids = append(kids, p.Current.Kid)
	}
	ctx, kill := context.WithCancel(t.Context())
	var done []int
	_, err := f.rotateKeyset(ctx, true, func(n, all int) {
		if done = append(done, n); all != keys {
			t.Errorf("got %d keys, want %d", all, keys)
		}
		kill() // the write in progress does not commit
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	ctx, kill = context.WithCancel(t.Context())
	calls := 0
	if _, err = f.rotateKeyset(ctx, true, func(int, int) {
		if calls++; calls == 2 {
			kill()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if older, err := f.rotateKeyset(t.Context(), false, func(n, _ int) { done = append(done, n) }); err != nil ||
		older != 1 {
		t.Errorf("got %d older keys, %v, want the first one alone", older, err)
	}
	if want := []int{100, 200, 250}; !slices.Equal(done, want) {
		t.Errorf("re-encrypted: got %v, want %v", done, want)
	}
	for i, kid := range kids {
		if _, _, err := f.Private(t.Context(), fmt.Sprintf("mer_%d/test", i), kid); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKeysetLeft checks that a private key that does not open is reported, and that its old key
// stays in the keyset.
func TestKeysetLeft(t *testing.T) {
	t.Parallel()
	source := storetest.SQLite(t)
	f := open(t, source, clock.NewFake(birth))
	good := f.current(t, ec).Current
	bad, err := f.Current(t.Context(), other, ec)
	if err != nil {
		t.Fatal(err)
	}
	MustExec(t, source, `UPDATE mle_keys SET sealed = CAST(sealed || x'00' AS BLOB) WHERE kid = '`+bad.Current.Kid+`'`)
	var named []string
	r := keyring.KeysetRotation{
		Store: f.db, KEK: kek(1), Drop: true, Progress: quiet, Complain: func(kid string) { named = append(named, kid) },
	}
	if older, err := r.Run(t.Context()); !errors.Is(err, keyring.ErrLeft) || older != 1 ||
		!slices.Equal(named, []string{bad.Current.Kid}) {
		t.Errorf("got %d, %v, %v", older, err, named)
	}
	if err := f.works(t, shop, good); err != nil {
		t.Error(err)
	}
}

// TestKeysetMoved checks that a filter with the old key-encryption key continues after a rewrap.
// Once the keyset also has other keys, it makes no key that would be lost.
func TestKeysetMoved(t *testing.T) {
	t.Parallel()
	f := open(t, storetest.SQLite(t), clock.NewFake(birth))
	first := f.current(t, ec).Current
	if err := keyring.Rewrap(t.Context(), f.db, kek(1), kek(2)); err != nil {
		t.Fatal(err)
	}
	second := f.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec}).Current
	for _, k := range []keyring.Key{first, second} {
		if err := f.works(t, shop, k); err != nil {
			t.Errorf("rewrapped: %v", err)
		}
	}
	r := keyring.KeysetRotation{Store: f.db, KEK: kek(2), Drop: true, Progress: quiet, Complain: func(string) {}}
	if _, err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Rotate(t.Context(), keyring.Rotate{Tenant: shop, Alg: ec}, nil); err == nil {
		t.Error("a key was made under a keyset that the filter does not know")
	}
}
