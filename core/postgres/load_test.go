package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// load are clients that pay without a pause, and ask again under their key until they are told the outcome.
type load struct {
	nodes   []*node
	ctx     context.Context //nolint:containedctx // until when payments are begun
	end     context.CancelFunc
	clients sync.WaitGroup

	mu      sync.Mutex        // guards what follows
	paid    map[string]string // what was acknowledged, by its key
	answers map[string]int
	slowest time.Duration
}

// loaded has clients pay at some cores. An answer that takes longer than within, or is none that a store's trouble explains, fails the test.
func loaded(t *testing.T, clients int, within time.Duration, nodes ...*node) *load {
	t.Helper()
	l := &load{nodes: nodes, paid: map[string]string{}, answers: map[string]int{}}
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

// pay pays once, however often it must ask.
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
		begun := time.Now() //nolint:forbidigo // how long it takes is what is to be seen
		a, err := l.nodes[(client+try)%len(l.nodes)].ask(ctx, "POST", "/v1/transactions", payment(100, "card", ""), key)
		cancel()
		if l.note(t, key, a, err, time.Since(begun)) {
			return
		}
		pause(20 * time.Millisecond) // much less than they are told to
	}
}

// pause waits as a client does.
func pause(d time.Duration) { <-time.After(d) }

// note reports whether an answer is the outcome.
func (l *load) note(t *testing.T, key string, a said, err error, took time.Duration) bool {
	t.Helper()
	code := ""
	if e, is := a.body["error"].(map[string]any); is {
		code = fmt.Sprint(e["code"])
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers[fmt.Sprint(a.status, " ", code)]++
	l.slowest = max(l.slowest, took)
	switch {
	case err != nil && len(l.nodes) == 1:
		t.Errorf("%s: after %s: %v", key, took, err)
	case err != nil: // a core of several that stands still: another one is asked
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

// done is how many payments were acknowledged.
func (l *load) done() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.paid)
}

// judge ends it, and wants one payment, event and authorization for each key, and every key to be answered as before.
func (l *load) judge(t *testing.T, store string) {
	t.Helper()
	db := inspect(t, store)
	l.end()
	l.clients.Wait()
	t.Logf("%d paid; answers %v; the slowest after %s", len(l.paid), l.answers, l.slowest)
	if l.answers["503 store_unavailable"] == 0 && len(l.nodes) == 1 {
		t.Error("nobody has noticed anything")
	}
	programtest.WaitFor(t, "nothing is under way", func() bool {
		return number(t, db, "SELECT COUNT(*) FROM transactions WHERE status = 'processing'") == 0
	})
	for what, count := range map[string]string{
		"payments": "SELECT COUNT(*) FROM transactions WHERE status <> 'failed'", // which the acquirer was never asked for
		"captured": "SELECT COUNT(*) FROM transactions WHERE amount_captured = 100",
		"events":   "SELECT COUNT(*) FROM events WHERE type = 'transaction.captured'",
	} {
		if got, want := number(t, db, count), int64(len(l.paid)); got != want {
			t.Errorf("got %d %s, want %d", got, what, want)
		}
	}
	if _, got := l.nodes[0].cluster.authorizations(t); got != int64(len(l.paid)) {
		t.Errorf("got %d authorizations, want %d", got, len(l.paid))
	}
	for key, id := range l.paid {
		var again said
		programtest.WaitFor(t, "it is told again", func() bool { // a core on a busy machine may find its server away
			var err error
			again, err = l.nodes[len(key)%len(l.nodes)].ask(t.Context(), "POST", "/v1/transactions", payment(100, "card", ""), key)
			return err == nil && again.status != 503
		})
		if again.status != 201 || again.body["id"] != id {
			t.Errorf("%s: told %s, and then %d %v", key, id, again.status, again.body)
		}
	}
}
