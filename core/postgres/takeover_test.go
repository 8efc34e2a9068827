package postgres_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestDeliveryOfADeadCorePostgreSQL: a core is killed while it waits for a receiver. Another core
// delivers once, within seconds and not after the minute of the lease.
func TestDeliveryOfADeadCorePostgreSQL(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	c := newCluster(t, store)
	db := inspect(t, store)
	var nodes []*node
	for range 3 { // one after the other, so that their ids are in this order
		nodes = append(nodes, c.start(t, "--webhooks-allow-private"))
	}
	var came atomic.Int64
	gone := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if came.Add(1) == 1 {
			select {
			case <-gone:
			case <-r.Context().Done():
			}
		}
	}))
	t.Cleanup(receiver.Close)
	t.Cleanup(func() { close(gone) })
	nodes[0].must(t, 201, "POST", "/v1/webhook_endpoints", `{"url":"`+receiver.URL+`","enabled_events":["*"]}`, "")
	nodes[0].must(t, 201, "POST", "/v1/transactions", payment(100, "card", ""), "")
	programtest.WaitFor(t, "a core delivers", func() bool { return came.Load() == 1 })
	holder := number(t, db,
		"SELECT COUNT(*) FROM cores WHERE id < (SELECT core_id FROM webhook_deliveries WHERE leased = 1)")
	nodes[holder].Kill()
	programtest.WaitFor(t, "another one delivers", func() bool {
		return number(t, db, "SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'succeeded'") == 1
	})
	if got := came.Load(); got != 2 {
		t.Errorf("got %d deliveries, want the one that was cut and one more", got)
	}
}
