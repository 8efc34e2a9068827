package webhook_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// setupServer is setup on a server. Commands are not rehearsed, so that a lock stops each of them
// once.
func setupServer(t *testing.T) *bundle {
	t.Helper()
	return &bundle{coretest.OpenOnce(t), webhook.NewSecrets([]byte("the webhook key of the tests: 32"))}
}

// mustHoldLocks runs a statement in a transaction of another process, which ends with commit. It
// has a separate connection, because the test meanwhile reads through the only connection of
// Inspect.
func (b *bundle) mustHoldLocks(t *testing.T, statement string, args ...any) (commit func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel) // rolls it back if the test failed before commit
	held, err := b.Database.MustInspect(t).BeginTx(ctx, &sql.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.ExecContext(ctx, statement, args...); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := held.Commit(); err != nil {
			t.Fatal(err)
		}
	}
}

// waitForLocks waits until that many commands of the service wait for a lock. The databases of
// other tests have tables with the same oids.
func (b *bundle) waitForLocks(t *testing.T, commands int64) {
	t.Helper()
	programtest.WaitFor(t, "the commands wait for a lock", func() bool {
		return b.Number(t, `SELECT COUNT(DISTINCT pid) FROM pg_locks WHERE NOT granted AND pid IN (
			SELECT l.pid FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
			WHERE l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
				AND c.relnamespace = CAST(CAST(current_schema() AS TEXT) AS regnamespace))`) == commands
	})
}

// TestADeletionWaitsForNoAttemptPostgreSQL: another core is about to write the result of an attempt
// and has locked the delivery. The deletion of the endpoint does not wait for it, and removes the
// other delivery. A purge removes the locked one later.
func TestADeletionWaitsForNoAttemptPostgreSQL(t *testing.T) {
	t.Parallel()
	b := setupServer(t)
	e := b.mustQueue(t, 0, 2)
	commit := b.mustHoldLocks(t, "SELECT id FROM webhook_deliveries ORDER BY id LIMIT 1 FOR UPDATE")
	if _, err := b.Engine.DeleteEndpoint(t.Context(), engine.Request{Tenant: b.Tenant}, e.ID); err != nil {
		t.Fatal(err)
	}
	if got, want := b.leftovers(t), [2]int64{1, 1}; got != want {
		t.Errorf("deleted endpoints and pending deliveries: got %v, want %v", got, want)
	}
	commit()
	if _, err := b.DB.PurgeEndpoints(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.leftovers(t); got != [2]int64{} {
		t.Errorf("after the attempt and a purge: got %v, want none", got)
	}
}

// TestRedeliveryDuringADeletionPostgreSQL: the redelivery of an event to an endpoint and the
// deletion of the endpoint wait for a lock, one after the other. Both end, and no delivery is left.
func TestRedeliveryDuringADeletionPostgreSQL(t *testing.T) {
	t.Parallel()
	for name, deletionFirst := range map[string]bool{"the redelivery first": false, "the deletion first": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupServer(t)
			e := b.mustQueue(t, 0, 1)
			event := b.Number(t, "SELECT id FROM events")
			r := engine.Request{Tenant: b.Tenant}
			commit := b.mustHoldLocks(t, "SELECT id FROM webhook_endpoints FOR UPDATE")
			var redelivered, deleted error
			commands := []func(){
				func() { _, redelivered = b.Engine.Redeliver(t.Context(), r, event, e.ID) },
				func() { _, deleted = b.Engine.DeleteEndpoint(t.Context(), r, e.ID) },
			}
			var want error
			if deletionFirst {
				commands[0], commands[1] = commands[1], commands[0]
				want = engine.ErrEndpointNotFound
			}
			var ended sync.WaitGroup
			for i, command := range commands {
				ended.Go(command)
				b.waitForLocks(t, int64(i+1))
			}
			commit()
			ended.Wait()
			if deleted != nil || !errors.Is(redelivered, want) {
				t.Errorf("the redelivery: got %v, want %v; the deletion: got %v", redelivered, want, deleted)
			}
			if got := b.leftovers(t); got != [2]int64{} {
				t.Errorf("deleted endpoints and pending deliveries: got %v, want none", got)
			}
		})
	}
}

// TestRedeliveryToAllDuringADeletionPostgreSQL: the redelivery of an event to all endpoints waits
// for the deletion of one by another core, and writes no delivery to it.
func TestRedeliveryToAllDuringADeletionPostgreSQL(t *testing.T) {
	t.Parallel()
	b := setupServer(t)
	b.mustEvents(t, b.Tenant, 1)
	b.MustEndpoint(t, "https://shop.example")
	event := b.Number(t, "SELECT id FROM events")
	record := store.OutcomeRecord{Transaction: &payment.Transaction{Tenant: b.Tenant}}
	commit := b.mustHoldLocks(t, `WITH lock AS MATERIALIZED (
			SELECT pg_advisory_xact_lock(hashtextextended(CAST(? AS TEXT), 0)))
		DELETE FROM webhook_endpoints WHERE EXISTS (SELECT * FROM lock)`, record.EndpointsLock())
	var ended sync.WaitGroup
	ended.Go(func() {
		if _, err := b.Engine.Redeliver(t.Context(), engine.Request{Tenant: b.Tenant}, event, 0); err != nil {
			t.Errorf("the redelivery: %v", err)
		}
	})
	b.waitForLocks(t, 1)
	commit()
	ended.Wait()
	if got := b.Number(t, "SELECT COUNT(*) FROM webhook_deliveries"); got != 0 {
		t.Errorf("deliveries: got %d, want none", got)
	}
}
