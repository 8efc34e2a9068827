package sqlite_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/sqlite"
)

// of starts a command of a caller and returns once it waits for the writer.
func (b *bundle) of(ctx context.Context, c store.Caller, fn func()) (done <-chan error) {
	return b.ofTx(ctx, c, func(*store.Tx) error { fn(); return nil })
}

// ofTx is of for a command that writes.
func (b *bundle) ofTx(ctx context.Context, c store.Caller, fn func(*store.Tx) error) (done <-chan error) {
	before := b.db.Waiting()
	out := make(chan error, 1)
	go func() { out <- b.db.UpdateOf(ctx, c, fn) }()
	for b.db.Waiting() == before {
		runtime.Gosched()
	}
	return out
}

// test and live are callers of a merchant.
func test(merchant int64) store.Caller {
	return store.Caller{Tenant: payment.Tenant{Merchant: merchant}}
}

func live(merchant int64) store.Caller {
	return store.Caller{Tenant: payment.Tenant{Merchant: merchant, Live: true}}
}

// wantNone checks that commands have no error.
func wantNone(t *testing.T, all []<-chan error) {
	t.Helper()
	for _, done := range all {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestSlowCommandsOfOneMerchant: each command of a merchant takes as long as a batch may, and many
// of them wait. All commands of any other caller wait for a few of them, whether they come before
// or during their batches.
func TestSlowCommandsOfOneMerchant(t *testing.T) {
	t.Parallel()
	const slow, quick, few = 64, 8, 2
	for name, other := range map[string]struct {
		caller     store.Caller
		background bool
	}{
		"another merchant":    {test(2), false},
		"live mode":           {live(1), false},
		"payers":              {store.Caller{Tenant: payment.Tenant{Merchant: 1}, Payer: true}, false},
		"the end of a step":   {store.Caller{Tenant: payment.Tenant{Merchant: 1}, Ends: true}, false},
		"an operator":         {store.Caller{}, false},
		"background work":     {store.Caller{}, true},
		"a merchant's expiry": {test(1), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			ctx := t.Context()
			if other.background {
				ctx = store.InBackground(ctx)
			}
			release := b.block(t)
			ran, behind := 0, []int{} // the writer runs one command at a time
			var all, late []<-chan error
			send := func(to *[]<-chan error) {
				for range quick {
					*to = append(*to, b.of(ctx, other.caller, func() { behind = append(behind, ran) }))
				}
			}
			for n := range slow {
				all = append(all, b.of(t.Context(), test(1), func() {
					b.clock.Advance(sqlite.BatchTime)
					if ran++; n == slow/2 {
						send(&late)
					}
				}))
			}
			send(&all)
			release()
			wantNone(t, all)
			wantNone(t, late)
			if len(behind) != 2*quick || behind[quick-1] > few || behind[2*quick-1] > slow/2+1+few {
				t.Errorf("they ran behind %v slow commands, want at most %d and %d", behind, few, slow/2+1+few)
			}
		})
	}
}

// TestModes: a merchant whose commands follow each other in live mode leaves turns to test mode.
func TestModes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	var order []string // the writer runs one command at a time
	var all []<-chan error
	for range 4 {
		all = append(all, b.of(t.Context(), live(1), func() { order = append(order, "live") }))
	}
	for range 2 {
		all = append(all, b.of(t.Context(), test(2), func() { order = append(order, "test") }))
	}
	release()
	wantNone(t, all)
	if want := []string{"live", "test", "live", "live", "test", "live"}; !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
}

// TestABatchEndsByItsTime: quick commands share a commit. Slow ones share it until the batch has
// taken its time, and the others are in the next batch.
func TestABatchEndsByItsTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		slow bool
		want []int
	}{
		"quick": {false, []int{1, 5}}, "slow": {true, []int{1, 2, 2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			var commits []int // the writer runs one batch at a time
			b.db.Observe(func(c store.Batch) { commits = append(commits, c.Commands) }, nil)
			release := b.block(t)
			var all []<-chan error
			for range 5 {
				all = append(all, b.of(t.Context(), test(1), func() {
					if c.slow {
						b.clock.Advance(sqlite.BatchTime / 2)
					}
				}))
			}
			release()
			wantNone(t, all)
			if err := b.db.Close(); err != nil { // behind the last callback
				t.Fatal(err)
			}
			if !slices.Equal(commits, c.want) {
				t.Errorf("commands of the commits: got %v, want %v", commits, c.want)
			}
		})
	}
}

// TestABatchEndsByItsBytes: commands that write little share a commit. Large ones share it until
// the batch has written about 1 MB, and the others are in the next batch.
func TestABatchEndsByItsBytes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bytes int
		want  []int
	}{
		"small": {100, []int{1, 5}}, "large": {sqlite.MaxBytes / 2, []int{1, 2, 2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			var commits []int // the writer runs one batch at a time
			b.db.Observe(func(c store.Batch) { commits = append(commits, c.Commands) }, nil)
			release := b.block(t)
			var all []<-chan error
			for n := range int64(5) {
				all = append(all, b.queue(func(tx *store.Tx) error {
					return tx.InsertMerchant(n+1, strings.Repeat("n", c.bytes))
				}))
			}
			release()
			wantNone(t, all)
			if err := b.db.Close(); err != nil { // behind the last callback
				t.Fatal(err)
			}
			if !slices.Equal(commits, c.want) {
				t.Errorf("commands of the commits: got %v, want %v", commits, c.want)
			}
		})
	}
}

// TestLargeCommandsOfOneMerchant: the commands of a merchant take no time, but each writes as many
// bytes as a batch may. Another merchant's commands wait for few of them, and share a batch with
// one at most.
func TestLargeCommandsOfOneMerchant(t *testing.T) {
	t.Parallel()
	const large, quick, few = 16, 8, 2
	b := setup(t)
	var commits []int // the writer runs one batch at a time
	b.db.Observe(func(c store.Batch) { commits = append(commits, c.Commands) }, nil)
	release := b.block(t)
	ran, behind := 0, []int{} // the writer runs one command at a time
	var all, late []<-chan error
	for n := range int64(large) {
		all = append(all, b.ofTx(t.Context(), live(1), func(tx *store.Tx) error {
			if ran++; ran == large/2 {
				for range quick {
					late = append(late, b.of(t.Context(), live(2), func() { behind = append(behind, ran) }))
				}
			}
			return tx.InsertMerchant(n+1, strings.Repeat("n", sqlite.MaxBytes))
		}))
	}
	release()
	wantNone(t, all)
	wantNone(t, late)
	if len(behind) != quick || behind[quick-1] > large/2+few {
		t.Errorf("they ran behind %v large commands, want at most %d", behind, large/2+few)
	}
	if err := b.db.Close(); err != nil { // behind the last callback
		t.Fatal(err)
	}
	if most := slices.Max(commits); most > quick+1 {
		t.Errorf("commands of the commits: got %v, want at most %d", commits, quick+1)
	}
}

// TestSlowCommandsShareNoBatch: quick commands are committed in another batch than the slow command
// of a caller with earlier slow commands.
func TestSlowCommandsShareNoBatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var commits []int // the writer runs one batch at a time
	b.db.Observe(func(c store.Batch) { commits = append(commits, c.Commands) }, nil)
	release := b.block(t)
	var all, quick []<-chan error
	for n := range 4 {
		all = append(all, b.of(t.Context(), live(1), func() {
			b.clock.Advance(2 * sqlite.BatchTime)
			if n == 2 {
				quick = []<-chan error{b.of(t.Context(), live(2), func() {}), b.of(t.Context(), live(2), func() {})}
			}
		}))
	}
	release()
	wantNone(t, all)
	wantNone(t, quick)
	if err := b.db.Close(); err != nil { // behind the last callback
		t.Fatal(err)
	}
	if want := []int{1, 1, 1, 1, 2, 1}; !slices.Equal(commits, want) {
		t.Errorf("commands of the commits: got %v, want %v", commits, want)
	}
}

// TestStall: the machine stalls during a command. Its caller has the next turn before others have
// had as much time.
func TestStall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	ran, behind := 0, 0 // the writer runs one command at a time
	all := []<-chan error{
		b.of(t.Context(), live(1), func() { b.clock.Advance(time.Hour) }),
		b.of(t.Context(), live(1), func() { behind = ran }),
	}
	for range 40 {
		all = append(all, b.of(t.Context(), live(2), func() { ran++; b.clock.Advance(sqlite.BatchTime / 2) }))
	}
	release()
	wantNone(t, all)
	if behind < 5 || behind > 20 {
		t.Errorf("it ran behind %d commands of 10 ms, want about ten", behind)
	}
}

// TestWaited: an observer of a batch gets the longest time for which one of its commands has
// waited.
func TestWaited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var waited time.Duration // the writer runs one batch at a time
	b.db.Observe(func(c store.Batch) { waited = c.Waited }, nil)
	release := b.block(t)
	var all []<-chan error
	for _, c := range []store.Caller{test(1), live(2), live(2)} { // live mode has a turn before test mode
		all = append(all, b.of(t.Context(), c, func() {}))
		b.clock.Advance(time.Second)
	}
	release()
	wantNone(t, all)
	if err := b.db.Close(); err != nil { // behind the last callback
		t.Fatal(err)
	}
	if want := 3 * time.Second; waited != want {
		t.Errorf("got %s, want %s", waited, want)
	}
}

// TestCommandOfAnEndedRequest: a command whose request ends before its turn is withdrawn.
func TestCommandOfAnEndedRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	ctx, end := context.WithCancel(t.Context())
	done := b.of(ctx, test(1), func() { t.Error("it has run") })
	end()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	release()
}
