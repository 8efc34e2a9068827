package executor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
)

// TestDeduplication_keyRecoveredAfterItsRequest: the outcome of a payment is unknown when its
// request ends. An equal request without a window is charged under the next key. Only then recovery
// finds that the acquirer never had the first payment. The duplicate of the second is not charged.
func TestDeduplication_keyRecoveredAfterItsRequest(t *testing.T) {
	t.Parallel()
	for _, first := range []int{0, 120} {
		for _, proxy := range []int{0, 1} {
			for _, earlier := range []int{0, 1, 3} {
				t.Run(fmt.Sprintf("window %d, proxy %d, after %d", first, proxy, earlier), func(t *testing.T) {
					t.Parallel()
					testRecoveredAfterItsRequest(t, first, proxy, earlier)
				})
			}
		}
	}
}

// testRecoveredAfterItsRequest is the test with the window of the first request, the proxy of the
// second one, and a number of equal payments before them.
func testRecoveredAfterItsRequest(t *testing.T, first, proxy, earlier int) {
	t.Helper()
	b := setupWindow(t, noon)
	for range earlier {
		b.proxies[0].Execute(t.Context(), key, sale(0))
	}
	b.clock.Advance(time.Hour)
	f := &recoveringV1{
		keyedV1: b.v1, recovery: recovery{status: "unknown", recovers: 1 << 30}, claimed: make(chan struct{}),
	}
	server := goldentest.Serve(t, f)
	for i := range b.proxies {
		b.proxies[i] = mustProxy(t, server, b)
	}
	unknown := b.proxies[0].Execute(t.Context(), key, sale(first))
	f.ended.Store(true)
	b.clock.Advance(5 * time.Second)
	charged := b.proxies[proxy].Execute(t.Context(), key, sale(0))
	if unknown.Outcome != command.Uncertain || charged.Outcome != command.Done || b.v1.paid() != earlier+1 {
		t.Fatalf("got %s, then %s and %d payments", unknown.Outcome, charged.Outcome, b.v1.paid())
	}
	f.mu.Lock()
	f.recovered(f.key)
	f.mu.Unlock()
	b.clock.Advance(5 * time.Second)
	for i := range b.proxies {
		if r := b.proxies[i].Execute(t.Context(), key, sale(120)); r.Outcome != command.Repeated || b.v1.paid() != earlier+1 {
			t.Errorf("the duplicate by proxy %d: got %s and %d payments, want %s and %d",
				i, r.Outcome, b.v1.paid(), command.Repeated, earlier+1)
		}
	}
}
