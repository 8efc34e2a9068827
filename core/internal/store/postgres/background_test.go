package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// stuckCommands is more than all connections for commands.
const stuckCommands = 32

// TestBackgroundCommandsPostgreSQL: commands of background work wait for a row that another
// transaction has locked. Commands of clients, heartbeats and probes go on meanwhile, also the
// probes of background work. Once the row is free, the commands end.
func TestBackgroundCommandsPostgreSQL(t *testing.T) {
	t.Parallel()
	source := pgtest.Schema(t)
	if err := postgres.Migrate(t.Context(), secret.New(source)); err != nil {
		t.Fatal(err)
	}
	const options = "&patience=30s&idle_in_transaction_session_timeout=120000"
	db, err := postgres.Open(t.Context(), source+options, clock.System())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the test has checked all results
	mustWrite(t, db, 1, func() {})
	held, err := mustDial(t, source).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(t.Context(), "SELECT FROM test_clocks FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	background := store.InBackground(context.WithoutCancel(t.Context()))
	var stuck sync.WaitGroup
	for range stuckCommands {
		stuck.Go(func() {
			err := db.Update(background, func(tx *store.Tx) error { _, err := tx.AdvanceTestClock(1, 1); return err })
			if err != nil {
				t.Error(err)
			}
		})
	}
	programtest.WaitFor(t, "all connections for background work are in use", func() bool {
		for _, p := range db.Stats().Pools {
			if p.Name == "background_write" {
				return p.InUse == p.Max && db.Waiting() == stuckCommands
			}
		}
		return false
	})
	mustWrite(t, db, 2, func() {})
	leads, _, err := db.Heartbeat(background, 7, time.Hour, func(time.Time) bool { return true })
	if !leads || err != nil {
		t.Errorf("a heartbeat: leads %t, %v", leads, err)
	}
	db.Failed(store.ErrUnavailable) // so that a probe writes
	if err := db.PingWriter(background); err != nil {
		t.Errorf("a probe: %v", err)
	}
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	stuck.Wait()
}
