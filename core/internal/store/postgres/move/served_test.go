package move_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres/move"
)

// TestUndoBesideACore is refused while a core beats at the target. Forced, that core has a store that takes nothing, and is found to.
func TestUndoBesideACore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(t)
	b.finish(t)
	db, err := b.openTarget(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	beat := func(ctx context.Context) error {
		_, _, err := db.Beat(ctx, 3, time.Second, func(time.Time) bool { return true })
		return err
	}
	if err := beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var beating sync.WaitGroup
	beating.Go(func() {
		for ctx.Err() == nil {
			_ = beat(ctx) // the refusal tells
		}
	})
	refused := move.Undo(t.Context(), b.config(), false)
	forced := move.Undo(t.Context(), b.config(), true) // it beats still
	stop()
	beating.Wait()
	if !errors.Is(refused, move.ErrBeats) || forced != nil {
		t.Fatalf("got %v, want %v; forced %v", refused, move.ErrBeats, forced)
	}
	const guards = `SELECT count(*) FROM pg_trigger WHERE tgname = 'only_a_move' AND tgrelid IN ('cores'::regclass, 'lead'::regclass, 'store_probes'::regclass)`
	if got := number(t, b.target, guards); got != 3 {
		t.Errorf("%d of the tables by which a core lives take nothing, want 3", got)
	}
	if err := db.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(1, "late") }); !store.IsUnavailable(err) {
		t.Errorf("a write: got %v, want one of an unavailable store", err)
	}
	if err := db.PingWriter(t.Context()); !store.IsUnavailable(err) {
		t.Errorf("health: got %v, want one of an unavailable store", err)
	}
	if err := beat(t.Context()); !store.IsUnavailable(err) {
		t.Errorf("a beat: got %v, want one of an unavailable store", err)
	}
	b.finish(t)
	if err := beat(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestUndoAfterACoreWasKilled: it did not say that it has ended, and is heard no more.
func TestUndoAfterACoreWasKilled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(t)
	b.finish(t)
	must(t, b.target, `INSERT INTO cores (id, beat) VALUES (3, 77)`)
	if err := move.Undo(t.Context(), b.config(), false); err != nil {
		t.Error(err)
	}
}
