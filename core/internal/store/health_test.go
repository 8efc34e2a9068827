package store_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// filler is what the last probe wrote.
func (b *bundle) filler(t *testing.T) (out string) {
	t.Helper()
	err := b.MustWrite(t).QueryRowContext(t.Context(), "SELECT COALESCE(MAX(hex(substr(filler, 1, 16))), '') FROM store_probes").Scan(&out)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAProbeThatEndedIsNotStuck: the waiter runs only after the probe and its timer have ended.
func TestAProbeThatEndedIsNotStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		result := setup(t).db.EndedProbe(t.Context())
		for range 100 {
			if err := result(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestHealthSeesAStuckWriter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	var wg sync.WaitGroup
	for range 8 { // all of them wait for one probe
		wg.Go(func() {
			if err := b.db.PingWriter(context.WithoutCancel(t.Context())); !errors.Is(err, store.ErrStalled) {
				t.Errorf("got %v, want %v", err, store.ErrStalled)
			}
		})
	}
	wg.Wait()
	for b.db.Waiting() == 0 { // the probe is on its way, on a busy machine
		runtime.Gosched()
	}
	if got := b.db.Waiting(); got != 1 {
		t.Errorf("waiting for the writer: got %d, want one probe", got)
	}
	release()
	if err := b.db.Update(t.Context(), merchant(1)); err != nil {
		t.Fatal(err)
	}
	if err := b.db.PingWriter(t.Context()); err != nil {
		t.Errorf("once it goes on: %v", err)
	}
}

// TestHealthWritesLittle: one probe a second at most, and none while payments say that all is well.
func TestHealthWritesLittle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.db.ProbeFor(time.Minute)
	ping := func() string {
		t.Helper()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if err := b.db.PingWriter(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		return b.filler(t)
	}
	if err := b.db.Update(t.Context(), merchant(1)); err != nil {
		t.Fatal(err)
	}
	if got := ping(); got != "" {
		t.Error("a probe although a commit has just succeeded")
	}
	b.clock.Advance(time.Second)
	first := ping()
	if first == "" {
		t.Error("no probe after a second without a commit")
	}
	b.clock.Advance(time.Second - time.Millisecond)
	if got := ping(); got != first {
		t.Error("a second probe within a second")
	}
	b.clock.Advance(time.Millisecond)
	if got := ping(); got == first {
		t.Error("no second probe after a second")
	}
}
