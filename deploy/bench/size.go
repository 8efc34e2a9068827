package bench

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/causeway-pay/causeway/deploy/bench/fill"
)

const (
	// smallRows is the number of rows of P10's small store.
	smallRows = 10_000
	merchants = 8
	// history is the period of the payments. It is shorter than the retention of a delivery, so
	// that core purges none.
	history = 28 * 24 * time.Hour
)

// size measures P10: the cost of a payment in a store with many rows, against a store with few, on
// both engines.
func size(b *Bench) {
	b.onBoth(func(engine string, create func() *core) {
		filled := func(rows int) *core {
			c := create()
			c.fill(func(each int) fill.Copies {
				return fill.Copies{Count: rows / each, Merchants: merchants, Span: history}
			})
			return c
		}
		b.Logf("%s: filling a store with %d rows", engine, b.Rows)
		start := b.Clock.Now()
		many := filled(b.Rows)
		b.Logf("%s: filled in %v", engine, b.Clock.Now().Sub(start).Round(time.Second))
		got := b.interleave(
			side{"many, " + engine, func() sample { return many.pay(conns) }},
			side{"few, " + engine, func() sample { return filled(smallRows).pay(conns) }},
		)
		what := fmt.Sprintf("%s: time a POST, 64 clients, %s rows ÷ %s",
			engine, humanize.Comma(int64(b.Rows)), humanize.Comma(smallRows))
		b.timesRow("P10", what, 1.1, got[0], got[1], byTime)
		b.timesRow("P10", engine+": processor time of core and its store a POST, the same", 1.1, got[0], got[1], byCPU)
	})
}
