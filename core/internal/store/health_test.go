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

// filler returns the first bytes that the last probe wrote, in hexadecimal digits: "" for no probe.
func (b *bundle) filler(t *testing.T) (out string) {
	t.Helper()
	query := "SELECT COALESCE(MAX(hex(substr(filler, 1, 16))), '') FROM store_probes"
	err := b.MustWrite(t).QueryRowContext(t.Context(), query).Scan(&out)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEndedProbeIsNotStalled: a caller that reads the result of a probe late, after the probe and
// its timer have ended, does not get ErrStalled.
func TestEndedProbeIsNotStalled(t *testing.T) {
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

// TestPingWriterStalled: all pings of a stuck writer share one probe and fail, until the writer
// works again.
func TestPingWriterStalled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := b.db.PingWriter(context.WithoutCancel(t.Context())); !errors.Is(err, store.ErrStalled) {
				t.Errorf("got %v, want %v", err, store.ErrStalled)
			}
		})
	}
	wg.Wait()
	for b.db.Waiting() == 0 { // on a busy machine the probe waits for the writer only later
		runtime.Gosched()
	}
	if got := b.db.Waiting(); got != 1 {
		t.Errorf("waiting for the writer: got %d, want 1 probe", got)
	}
	release()
	if err := b.db.Update(t.Context(), merchant(1)); err != nil {
		t.Fatal(err)
	}
	if err := b.db.PingWriter(t.Context()); err != nil {
		t.Errorf("after the release: %v", err)
	}
}

// TestPingWriterProbesRarely: PingWriter writes at most one probe a second, and none within a
// second of another commit.
func TestPingWriterProbesRarely(t *testing.T) {
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
