package webhook_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// queuedDeliveries returns the length of the queue in TestAQueueUnderWayDelaysNoOther.
func queuedDeliveries(t *testing.T) int64 {
	t.Helper()
	text := os.Getenv("CAUSEWAY_QUEUED_DELIVERIES")
	if text == "" {
		return 20_000
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("CAUSEWAY_QUEUED_DELIVERIES: %v", err)
	}
	return n
}

// TestAQueueUnderWayDelaysNoOther: a merchant has a long queue, and its endpoint responds
// immediately. An endpoint of another merchant gets each of its deliveries before the queue has
// ended. The queue is shortened to its bound, and no other delivery is lost.
func TestAQueueUnderWayDelaysNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const events, bound = 5, 250_000
	queued := queuedDeliveries(t)
	var attempts atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { attempts.Add(1) }))
	t.Cleanup(server.Close)
	other := newReceiver(t, nil)
	b.mustEndpoints(t, server.URL, 1)
	long := b.only(t)
	b.mustFill(t, long, queued)
	tenant := b.mustEndpoints(t, other.URL, 1)[0]
	run(t, b.deliverer())
	programtest.WaitFor(t, "the queue is under way", func() bool { return attempts.Load() > 0 })
	for n := range events {
		b.mustEvents(t, tenant, 1)
		other.wait(t, n+1)
	}
	if got := attempts.Load(); got >= queued {
		t.Errorf("attempts at the long queue before the last of another merchant: got %d, want fewer than %d", got, queued)
	}
	const of = "SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id = ?"
	programtest.WaitFor(t, "the queue is as short as it may be", func() bool {
		return b.Number(t, of+" AND status = 'pending'", long.ID) <= bound
	})
	if got := b.Number(t, of, long.ID); got != queued {
		t.Errorf("deliveries in the log: got %d, want %d", got, queued)
	}
	const wrong = " AND status = 'succeeded' AND (response_status <> 200 OR attempts = 0)"
	if got := b.Number(t, of+wrong, long.ID); got != 0 {
		t.Errorf("deliveries that succeeded without a response: got %d, want none", got)
	}
}
