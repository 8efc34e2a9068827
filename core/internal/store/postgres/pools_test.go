package postgres_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestPoolsPostgreSQL: the URL sets the connections for commands of clients, payments and reads by
// id. It can lower the numbers for lists and background work, but not raise them.
func TestPoolsPostgreSQL(t *testing.T) {
	t.Parallel()
	source := pgtest.Schema(t)
	if err := postgres.Migrate(t.Context(), secret.New(source)); err != nil {
		t.Fatal(err)
	}
	for options, want := range map[string]map[string]int{
		"": {
			"write": 16, "payments": 10, "background_write": 4, "member": 2, "read": 4, "list": 2, "background": 2,
			"essential": 2,
		},
		"&pool_max_conns=32": {
			"write": 32, "payments": 32, "background_write": 4, "member": 2, "read": 32, "list": 2, "background": 2,
			"essential": 2,
		},
		"&pool_max_conns=1": {
			"write": 1, "payments": 1, "background_write": 1, "member": 1, "read": 1, "list": 1, "background": 1,
			"essential": 1,
		},
		"&application_name=pool_max_conns": {
			"write": 16, "payments": 10, "background_write": 4, "member": 2, "read": 4, "list": 2, "background": 2,
			"essential": 2,
		},
	} {
		db, err := postgres.Open(t.Context(), source+options+patient, clock.System())
		if err != nil {
			t.Fatal(err)
		}
		pools := db.Stats().Pools
		if len(pools) != len(want) {
			t.Errorf("%s: got the pools %v, want %v", options, pools, want)
		}
		for _, p := range pools {
			if p.Max != want[p.Name] {
				t.Errorf("%s: %s: got %d connections, want %d", options, p.Name, p.Max, want[p.Name])
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFailuresOfBatchesAreCounted: a batch of two payments fails because the server shuts down.
// Another one is rolled back after a deadlock.
func TestFailuresOfBatchesAreCounted(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]store.Stats{
		"57P01": {Unavailable: 2},
		"40P01": {RolledBack: map[string]int64{"deadlock": 1}},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				refused := &pgconn.PgError{Code: code, SeverityUnlocalized: "ERROR"}
				q, _ := oneBatch(t, 2, func(int) context.Context { return t.Context() }, func() {},
					func(context.Context, []int) error { return refused })
				unavailable, deadlocks := q.Failures()
				if unavailable != want.Unavailable || deadlocks != want.RolledBack["deadlock"] {
					t.Errorf("got %d unavailable and %d deadlocks, want %+v", unavailable, deadlocks, want)
				}
			})
		})
	}
}
