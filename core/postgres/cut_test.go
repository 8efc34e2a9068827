package postgres_test

import (
	"net/url"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestGroupsThatAreCutPostgreSQL: connections are cut where payments are written together, before a group reaches the server, between its statements and before
// its answer. Nobody of it knows then, and each who asks again with his key sees one outcome.
func TestGroupsThatAreCutPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	r, dir := newRelay(t, server.Socket())
	n := open(t, with(t, server.URL(nil), url.Values{"host": {dir}}))
	l := loaded(t, 24, tellIn, n)
	cuts := 0
	for round := range 4 {
		for _, reach := range []reach{nowhere, halfway, through} {
			before := l.done()
			programtest.WaitFor(t, "payments are taken", func() bool { return l.done() > before+24 })
			r.cut(1+(3*round+int(reach))%5, reach) // whatever is the next
			programtest.WaitFor(t, "one is cut", func() bool { return !r.waits() })
			cuts++
		}
	}
	before := l.done()
	programtest.WaitFor(t, "payments are taken", func() bool { return l.done() > before+24 })
	l.judge(t, server.URL(nil))
	if told := l.answers["503 store_unavailable"] + l.answers["504 outcome_unknown"]; told <= cuts {
		t.Errorf("%d cuts were told to %d: no group of several was cut", cuts, told)
	}
}
