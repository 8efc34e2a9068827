package postgres_test

import (
	"net/url"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestBatchesThatAreCutPostgreSQL: connections are cut before a batch reaches the server, between
// its statements, and before its response. The outcome of its payments is unknown then. Each retry
// with the idempotency key returns one outcome.
func TestBatchesThatAreCutPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	r, dir := newRelay(t, server.Socket())
	n := open(t, with(t, server.URL(nil), url.Values{"host": {dir}}))
	l := loaded(t, 24, respondIn, n)
	cuts := 0
	for round := range 4 {
		for _, reach := range []reach{nowhere, halfway, through} {
			before := l.done()
			programtest.WaitFor(t, "payments are accepted", func() bool { return l.done() > before+24 })
			r.cut(1+(3*round+int(reach))%5, reach) // one of the next five commits
			programtest.WaitFor(t, "one is cut", func() bool { return !r.waits() })
			cuts++
		}
	}
	before := l.done()
	programtest.WaitFor(t, "payments are accepted", func() bool { return l.done() > before+24 })
	l.judge(t, server.URL(nil))
	if failed := l.responses["503 store_unavailable"] + l.responses["504 outcome_unknown"]; failed <= cuts {
		t.Errorf("%d cuts failed %d requests: no batch of several payments was cut", cuts, failed)
	}
}
