package api_test

import (
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/pgtest"
)

// TestAStartLeavesTheLeasesOfOthersPostgreSQL: another core attempts a delivery while this core
// starts. The lease of that attempt stays.
func TestAStartLeavesTheLeasesOfOthersPostgreSQL(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{on: coretest.OnServer(pgtest.Schema(t)), rateLimit: -1})
	now := b.clock.Now()
	b.database.MustExec(t, `INSERT INTO webhook_deliveries
		(id, endpoint_id, event_id, leased, core_id, due_at, created_at, updated_at) VALUES (?, 2, 3, 1, 4, ?, ?, ?)`,
		id.At(now), now.UnixMilli(), now.UnixMilli(), now.UnixMilli())
	b.stop(t)
	b.start(t)
	if got := b.number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE leased = 1"); got != 1 {
		t.Errorf("leases: got %d, want the one of the other core", got)
	}
}
