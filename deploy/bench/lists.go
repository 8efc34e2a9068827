package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/causeway-pay/causeway/deploy/bench/fill"
	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// listers is the number of P11's clients that list.
const listers = 16

// missing is a list that reads all payments of a merchant and finds none.
const missing = "/v1/transactions?card_fingerprint=ffffffffffffffffffffffffffffffff"

// lists measures P11 on both engines: the time of a payment of one merchant while lists must read
// all payments of another one.
func lists(ctx context.Context, b *Bench) (rows []Row, err error) {
	data := b.folder("lists")
	c, err := b.programs.FolderCore(ctx, data)
	if err != nil {
		return nil, err
	}
	row, err := b.listsOn(ctx, "SQLite", c, func(copies fill.Copies) error {
		return fill.SQLite(ctx, filepath.Join(data, "causeway.db"), copies)
	})
	if err != nil {
		return nil, err
	}
	rows = append(rows, row)
	err = b.withPostgres(ctx, func(p *serve.Postgres) error {
		c, err := b.programs.Core(ctx, p)
		if err != nil {
			return err
		}
		row, err := b.listsOn(ctx, "PostgreSQL", c, func(copies fill.Copies) error {
			return fill.Postgres(ctx, c.SQL, copies)
		})
		if err == nil {
			rows = append(rows, row)
		}
		return err
	})
	return rows, err
}

// listsOn measures one engine with an empty core. add adds copies of the core's only payment.
func (b *Bench) listsOn(
	ctx context.Context, engine string, c *serve.Core, add func(fill.Copies) error,
) (row Row, err error) {
	err = b.withCore(ctx, c, func(running *serve.Process) error {
		_, err := b.payOnce(ctx, running.Addr, c.Key, 1)
		return err
	})
	if err != nil {
		return Row{}, err
	}
	other, err := c.Enroll(ctx, "test")
	if err != nil {
		return Row{}, err
	}
	b.say("%s: filling a store with %d payments of one merchant", engine, b.Payments)
	if err := add(fill.Copies{Count: b.Payments, Merchants: 1, Span: history}); err != nil {
		return Row{}, err
	}
	err = b.withCore(ctx, c, func(running *serve.Process) (err error) {
		plan := b.payments(running.Addr, other[0], conns)
		plan.Rate = honest
		alone := func(ctx context.Context) (sample, error) { return b.load(ctx, plan) }
		got, err := b.interleave(
			ctx,
			side{"beside lists, " + engine, func(ctx context.Context) (sample, error) {
				return b.besideLists(ctx, running.Addr, c.Key, alone)
			}},
			side{"alone, " + engine, alone},
		)
		if err == nil {
			what := fmt.Sprintf("p99 of a payment at 50/s beside %d lists of another merchant's %s payments ÷ alone, %s",
				listers, humanize.Comma(int64(b.Payments)), engine)
			row = timesRow("P11", what, 2.0, got[0], got[1], byP99)
		}
		return err
	})
	return row, errors.Join(err, c.Drop(ctx))
}

// besideLists runs a side while clients list one page after the other. A list must be empty, or be
// refused as too slow or as one too many.
func (b *Bench) besideLists(
	ctx context.Context, addr, key string, run func(context.Context) (sample, error),
) (out sample, err error) {
	request, err := load.NewRequest("GET", addr, missing, []string{"Authorization: Bearer " + key}, "", 0)
	if err != nil {
		return sample{}, err
	}
	listing, stop := context.WithCancel(ctx)
	failed := make([]error, listers)
	counts := make([]map[int]int, listers)
	var ended sync.WaitGroup
	for i := range listers {
		counts[i] = map[int]int{}
		ended.Go(func() {
			if err := list(listing, addr, request, counts[i]); listing.Err() == nil {
				failed[i] = err
			}
		})
	}
	out, err = run(ctx)
	stop()
	ended.Wait()
	total := map[int]int{}
	for _, count := range counts {
		for status, n := range count {
			total[status] += n
		}
	}
	b.say("lists by status: %v", total)
	return out, errors.Join(append(failed, err)...)
}

// list lists until ctx ends and counts the responses by status.
func list(ctx context.Context, addr string, request *load.Request, count map[int]int) error {
	bytes := request.Bytes(nil, 0)
	for ctx.Err() == nil {
		response, err := load.Send(ctx, addr, bytes)
		if err != nil {
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
	return nil
}
