package postgres_test

import (
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestPoolsPostgreSQL: the URL sets the connections for commands and reads by id. It can lower the
// numbers for lists and background work, but not raise them.
func TestPoolsPostgreSQL(t *testing.T) {
	t.Parallel()
	source := pgtest.Schema(t)
	if err := postgres.Migrate(t.Context(), secret.New(source)); err != nil {
		t.Fatal(err)
	}
	for options, want := range map[string]map[string]int{
		"":                   {"write": 16, "read": 4, "list": 2, "background": 2},
		"&pool_max_conns=32": {"write": 32, "read": 32, "list": 2, "background": 2},
		"&pool_max_conns=1":  {"write": 1, "read": 1, "list": 1, "background": 1},
	} {
		db, err := postgres.Open(t.Context(), source+options, clock.System())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range db.Stats().Pools {
			if p.Max != want[p.Name] {
				t.Errorf("%s: %s: got %d connections, want %d", options, p.Name, p.Max, want[p.Name])
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
