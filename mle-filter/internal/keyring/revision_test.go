package keyring_test

import (
	"context"
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

// TestEndedEverywhere ends keys in each way while requests arrive at every filter. No use that
// begins afterwards may get the key.
func TestEndedEverywhere(t *testing.T) {
	t.Parallel()
	none := time.Duration(0)
	ways := map[string]func(*testing.T, filter, string){
		"revoke": func(t *testing.T, f filter, kid string) {
			t.Helper()
			if _, err := f.Revoke(t.Context(), kid); err != nil {
				t.Error(err)
			}
		},
		"retire": func(t *testing.T, f filter, kid string) {
			t.Helper()
			f.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec, From: kid})
			if _, err := f.Retire(t.Context(), "", kid); err != nil {
				t.Error(err)
			}
		},
		"for no time": func(t *testing.T, f filter, kid string) {
			t.Helper()
			f.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec, From: kid, Keep: &none})
		},
	}
	for _, e := range storetest.Engines() {
		for way, end := range ways {
			t.Run(e.Name+"/"+way, func(t *testing.T) {
				t.Parallel()
				source, c := e.Source(t), clock.NewFake(birth)
				a, users := open(t, source, c), []filter{open(t, source, c), open(t, source, c)}
				for range 10 {
					endUnderUse(t, a, users, end)
				}
			})
		}
	}
}

func endUnderUse(t *testing.T, a filter, users []filter, end func(*testing.T, filter, string)) {
	t.Helper()
	kid := a.current(t, ec).Current.Kid
	var ended atomic.Bool
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for after := false; !after; {
				after = ended.Load()
				_, _, err := users[i%2].Private(t.Context(), shop, kid)
				if after && !errors.Is(err, engine.ErrNoKey) || !after && err != nil && !errors.Is(err, engine.ErrNoKey) {
					t.Errorf("after the end: %t: got %v", after, err)
					return
				}
			}
		})
	}
	end(t, a, kid)
	ended.Store(true)
	wg.Wait()
}

// TestRevisionQueryGivesUp checks that a caller whose context ends does not wait for a slow store.
func TestRevisionQueryGivesUp(t *testing.T) {
	t.Parallel()
	f := open(t, storetest.SQLite(t), clock.NewFake(birth))
	arrived, slow := make(chan struct{}), make(chan struct{})
	readRevision := keyring.RevisionQuery(func(ctx context.Context) (int64, error) {
		select {
		case arrived <- struct{}{}:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		<-slow
		return f.db.Revision(ctx)
	})
	first := make(chan error, 1)
	go func() { _, err := readRevision(t.Context()); first <- err }()
	<-arrived
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readRevision(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	slow <- struct{}{}
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// BenchmarkPrivate measures the use of a key that is in memory. Its main cost is the query of the
// store's revision.
func BenchmarkPrivate(b *testing.B) {
	for _, e := range storetest.Engines() {
		b.Run(e.Name, func(b *testing.B) {
			f := open(b, e.Source(b), clock.NewFake(birth))
			kid := f.current(b, ec).Current.Kid
			use := func() {
				if _, _, err := f.Private(b.Context(), shop, kid); err != nil {
					b.Error(err)
				}
			}
			b.Run("alone", func(b *testing.B) {
				for b.Loop() {
					use()
				}
			})
			b.Run("64 at once", func(b *testing.B) {
				b.SetParallelism(32)
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						use()
					}
				})
			})
		})
	}
}
