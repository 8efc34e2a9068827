package move_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres/move"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The variables that make this test program a process that moves a store, and is killed at it.
const childSource, childTarget = "MOVE_TEST_SOURCE", "MOVE_TEST_TARGET"

// child moves a store as core migrate-data does: a pass ahead, and the last one.
func child(source, target string) (err error) {
	ctx := context.Background()
	m, err := move.Open(ctx, move.Config{Target: secret.New(target), MoveConfig: store.MoveConfig{
		Source: source, Identity: "one", Clock: clock.System(), Tell: func(string, ...any) {},
	}})
	if errors.Is(err, store.ErrMoveDone) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if _, err := m.Ahead(ctx); err != nil {
		return err
	}
	_, err = m.Finish(ctx, store.Luggage{})
	return err
}

// strike runs a process that moves, and kills it after a time; it reports whether the process was faster.
func (b *bundle) strike(t *testing.T, after time.Duration) (ended bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childSource+"="+b.path, childTarget+"="+b.url.Reveal())
	cmd.Stderr = &b.told
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // or it has ended
	err := cmd.Wait()
	if err != nil && kill.Stop() {
		t.Fatalf("a move that nobody killed: %v: %s", err, b.told.String())
	}
	return err == nil
}

// TestKilledMoves kills moves at random moments, with changes between them. Never are both stores to be opened, and in the end all is there.
func TestKilledMoves(t *testing.T) {
	t.Parallel()
	for i := range 2 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.fill(t)
			b.pay(t, 1000, 5000)
			var kills int
			most := 200 * time.Millisecond // it grows with itself: a busy machine needs many times as long for a move, and not as many times as many moves
			for !b.strike(t, rand.N(most)) {
				kills++
				most += most / 8
				b.wantOneAtMost(t)
				// A source that is marked already takes no change, and must not.
				if _, err := b.source.ExecContext(t.Context(), fmt.Sprintf(`UPDATE transactions SET version = version + 1 WHERE id %% 160 = %d`, 16*(kills%10))); err != nil {
					t.Logf("after %d kills the source is marked", kills)
				}
			}
			t.Logf("%d kills", kills)
			b.wantSame(t)
			if source, target := b.opens(t); source || !target {
				t.Errorf("opened: source %v, target %v", source, target)
			}
		})
	}
}

// opens reports which of the stores can be opened.
func (b *bundle) opens(t *testing.T) (source, target bool) {
	t.Helper()
	db, err := b.openSource(t.Context())
	if source = err == nil; source {
		err = db.Close()
	}
	if err != nil && source {
		t.Error(err)
	}
	db, err = b.openTarget(t.Context())
	if target = err == nil; target {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	return source, target
}

// wantOneAtMost holds that not both stores can be opened; a target that has no schema yet, or is not claimed, is nobody's.
func (b *bundle) wantOneAtMost(t *testing.T) {
	t.Helper()
	var marked bool
	if err := b.target.QueryRowContext(t.Context(), "SELECT to_regclass('moves') IS NOT NULL").Scan(&marked); err != nil {
		t.Fatal(err)
	}
	if !marked || number(t, b.target, "SELECT count(*) FROM moves") == 0 {
		return
	}
	if source, target := b.opens(t); source && target {
		t.Error("both stores can be opened")
	}
}
