package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// load is clients that pay without a pause. They retry with their idempotency key until they get
// the outcome.
type load struct {
	nodes   []*node
	ctx     context.Context //nolint:containedctx // no payment begins after its end
	end     context.CancelFunc
	clients sync.WaitGroup

	mu        sync.Mutex        // guards the next fields
	paid      map[string]string // the ids of acknowledged payments by idempotency key
	responses map[string]int    // the number of responses by status and error code
	slowest   time.Duration
}

// loaded lets clients pay at some cores. The test fails if a response takes longer than within, or
// has an error that is not from a fault of the store.
func loaded(t *testing.T, clients int, within time.Duration, nodes ...*node) *load {
	t.Helper()
	l := &load{nodes: nodes, paid: map[string]string{}, responses: map[string]int{}}
	l.ctx, l.end = context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(func() { l.end(); l.clients.Wait() })
	for i := range clients {
		l.clients.Go(func() {
			for k := 0; l.ctx.Err() == nil; k++ {
				l.pay(t, i, fmt.Sprint("client ", i, " payment ", k), within)
			}
		})
	}
	return l
}

// pay makes one payment, and retries until it succeeds.
func (l *load) pay(t *testing.T, client int, key string, within time.Duration) {
	t.Helper()
	for try, over := 0, time.After(programtest.Patience); ; try++ {
		select {
		case <-over:
			t.Errorf("%s: no outcome", key)
			return
		default:
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), within)
		begun := time.Now() //nolint:forbidigo // the test measures the time
		a, err := l.nodes[(client+try)%len(l.nodes)].send(ctx, "POST", "/v1/transactions", payment(100, "card", ""), key)
		cancel()
		if l.isOutcome(t, key, a, err, time.Since(begun)) {
			return
		}
		pause(20 * time.Millisecond) // much less than Retry-After
	}
}

// pause waits as a client does.
func pause(d time.Duration) { <-time.After(d) }

// isOutcome counts a response, and reports whether it is the last one of a payment.
func (l *load) isOutcome(t *testing.T, key string, a response, err error, took time.Duration) bool {
	t.Helper()
	code := ""
	if e, is := a.body["error"].(map[string]any); is {
		code = fmt.Sprint(e["code"])
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.responses[fmt.Sprint(a.status, " ", code)]++
	l.slowest = max(l.slowest, took)
	switch {
	case err != nil && len(l.nodes) == 1:
		t.Errorf("%s: after %s: %v", key, took, err)
	case err != nil: // one of several cores is paused: the client retries at another one
	case a.status == 201:
		l.paid[key] = fmt.Sprint(a.body["id"])
		return true
	case a.status == 409: // an earlier request is under way
	case a.header.Get("Retry-After") == "", code != "store_unavailable" && code != "outcome_unknown":
		t.Errorf("%s: got %d %s, Retry-After %q", key, a.status, code, a.header.Get("Retry-After"))
		return true
	}
	return false
}

// done returns the number of acknowledged payments.
func (l *load) done() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.paid)
}

// judge ends the load. It requires one payment, event and authorization for each key, and the same
// response to a retry with each key.
func (l *load) judge(t *testing.T, store string) {
	t.Helper()
	db := inspect(t, store)
	l.end()
	l.clients.Wait()
	t.Logf("%d paid; responses %v; the slowest after %s", len(l.paid), l.responses, l.slowest)
	if l.responses["503 store_unavailable"] == 0 && len(l.nodes) == 1 {
		t.Error("no client got a 503")
	}
	programtest.WaitFor(t, "nothing is under way", func() bool {
		return number(t, db, "SELECT COUNT(*) FROM transactions WHERE status = 'processing'") == 0
	})
	for rows, count := range map[string]string{
		"payments": "SELECT COUNT(*) FROM transactions WHERE status <> 'failed'", // a failed one never reached the acquirer
		"captured": "SELECT COUNT(*) FROM transactions WHERE amount_captured = 100",
		"events":   "SELECT COUNT(*) FROM events WHERE type = 'transaction.captured'",
	} {
		if got, want := number(t, db, count), int64(len(l.paid)); got != want {
			t.Errorf("got %d %s, want %d", got, rows, want)
		}
	}
	if _, got := l.nodes[0].cluster.authorizations(t); got != int64(len(l.paid)) {
		t.Errorf("got %d authorizations, want %d", got, len(l.paid))
	}
	for key, id := range l.paid {
		var again response
		n := l.nodes[len(key)%len(l.nodes)]
		programtest.WaitFor(t, "the retry has a response", func() bool { // 503 on a busy machine
			var err error
			again, err = n.send(t.Context(), "POST", "/v1/transactions", payment(100, "card", ""), key)
			return err == nil && again.status != 503
		})
		if again.status != 201 || again.body["id"] != id {
			t.Errorf("%s: got %s, and then %d %v", key, id, again.status, again.body)
		}
	}
}
