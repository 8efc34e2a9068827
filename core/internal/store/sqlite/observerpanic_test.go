package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/sqlite"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestAnObserverThatPanics: a panic of the function that observes commits is reported. It changes
// no result of a command, and the writer goes on.
func TestAnObserverThatPanics(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var mu sync.Mutex
	var failures []error
	b.db.Observe(func(store.Batch) { panic("4242424242424242") }, func(err error) {
		mu.Lock()
		defer mu.Unlock()
		failures = append(failures, err)
	})
	const commands = 20
	results := make(chan error, commands)
	for i := range commands {
		go func() {
			results <- b.db.Update(context.WithoutCancel(t.Context()), func(tx *store.Tx) error {
				return tx.InsertMerchant(int64(i+100), "Shop")
			})
		}()
	}
	late := time.After(programtest.Patience)
	for range commands {
		select {
		case err := <-results:
			if err != nil {
				t.Errorf("got %v, want the commit", err)
			}
		case <-late:
			t.Fatal("commands still wait: no batch begins")
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(failures) == 0 || strings.Contains(errors.Join(failures...).Error(), "4242") {
		t.Errorf("got %v, want the panics without their values", failures)
	}
	if m, err := b.db.Merchant(t.Context(), 119); err != nil || m.Name != "Shop" {
		t.Errorf("got %+v, %v", m, err)
	}
}

// brittleClock panics once, at the reading with the number due.
type brittleClock struct {
	clock.Clock
	due atomic.Int64
}

func (c *brittleClock) Now() time.Time {
	if c.due.Add(-1) == 0 {
		panic("no time")
	}
	return c.Clock.Now()
}

// TestABatchThatPanics: a batch panics at each reading of the clock in turn. The result of its
// command matches the row. The writer has no open transaction, and the next batch succeeds.
func TestABatchThatPanics(t *testing.T) {
	t.Parallel()
	c := &brittleClock{Clock: clock.NewFake(birth)}
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "causeway.db"), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.Observe(func(store.Batch) {}, nil)
	write := func(n int64) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = errors.New("the caller panicked")
			}
		}()
		return db.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(n, "Shop") })
	}
	panics := 0
	for due := int64(1); due < 8; due++ {
		c.due.Store(due)
		failed := write(100+due) != nil
		if failed {
			panics++
		}
		c.due.Store(0)
		if _, err := db.Merchant(t.Context(), 100+due); (err != nil) != failed {
			t.Errorf("after a panic at reading %d: failed: %t, but the row: %v", due, failed, err)
		}
		ended := make(chan error, 1)
		go func() { ended <- write(200 + due) }()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("after a panic at reading %d: %v", due, err)
			}
		case <-time.After(programtest.Patience):
			t.Fatalf("after a panic at reading %d: no batch begins", due)
		}
	}
	if panics < 2 {
		t.Errorf("panics: got %d, want at least 2: at the request, and in the batch", panics)
	}
}
