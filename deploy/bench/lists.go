package bench

import (
	"context"
	"fmt"
	"net/http"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"github.com/causeway-pay/causeway/deploy/bench/fill"
	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// listers is the number of P11's clients that list.
const listers = 16

// missing is a list that reads all payments of a merchant and finds none.
const missing = "/v1/transactions?card_fingerprint=ffffffffffffffffffffffffffffffff"

// lists measures P11 on both engines: the time of a payment of one merchant while lists must read
// all payments of another one.
func lists(b *Bench) {
	b.onBoth(func(engine string, create func() *core) {
		c := create()
		b.Logf("%s: filling a store with %d payments of one merchant", engine, b.Payments)
		c.fill(func(int) fill.Copies { return fill.Copies{Count: b.Payments, Merchants: 1, Span: history} })
		other := c.enroll("test")[0]
		addr := c.start(nil).addr
		plan := b.payments(addr, other, conns)
		plan.Rate = paymentRate
		got := b.interleave(
			side{"during lists, " + engine, func() sample {
				b.list(addr, c.key)
				return b.load(plan)
			}},
			side{"alone, " + engine, func() sample { return b.load(plan) }},
		)
		what := fmt.Sprintf("p99 of a payment at 50/s during %d lists of another merchant's %s payments ÷ alone, %s",
			listers, humanize.Comma(int64(b.Payments)), engine)
		b.timesRow("P11", what, 2.0, got[0], got[1], byP99)
	})
}

// list makes clients list one page after the other until the end of the scope. A list must be
// empty, or be refused because it is too slow or because too many lists run.
func (b *Bench) list(addr, key string) {
	request := must(load.NewRequest("GET", addr, missing, []string{"Authorization: Bearer " + key}, "", 0)).Bytes(nil, 0)
	ctx, stop := context.WithCancel(b.ctx)
	var running errgroup.Group
	counts := make([]map[int]int, listers)
	for i := range counts {
		counts[i] = map[int]int{}
		running.Go(func() error { return list(ctx, addr, request, counts[i]) })
	}
	b.Cleanup(func() {
		stop()
		check(running.Wait())
		total := map[int]int{}
		for _, count := range counts {
			for status, n := range count {
				total[status] += n
			}
		}
		b.Logf("lists by status: %v", total)
	})
}

// list lists until ctx ends and counts the responses by status.
func list(ctx context.Context, addr string, request []byte, count map[int]int) error {
	for {
		response, err := load.Send(ctx, addr, request)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the end of the scope broke the request
		case err != nil:
			return err
		}
		count[response.Status]++
		switch response.Status {
		case http.StatusOK:
			if want := (load.Want{Status: http.StatusOK, Contains: []byte(`"data":[]`)}); want.Check(response) != nil {
				return want.Check(response)
			}
		case http.StatusGatewayTimeout, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		default:
			return fmt.Errorf("list: status %d: %.300s", response.Status, response.Body)
		}
	}
}
