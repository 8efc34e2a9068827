package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/causeway-pay/causeway/deploy/bench/fill"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

const (
	// smallRows is the number of rows of P10's small store.
	smallRows = 10_000
	merchants = 8
	// history is the period of the payments. It is shorter than the retention of a delivery, so
	// that core purges none.
	history = 28 * 24 * time.Hour
)

// filled is a store with many payments.
type filled struct {
	pay    func(context.Context) (sample, error) // with the processor time of core and its store
	remove func(context.Context) error
}

// size measures P10: the cost of a payment in a store with many rows, against a store with few, on
// both engines.
func size(ctx context.Context, b *Bench) ([]Row, error) {
	return b.onBoth(ctx, func(engine string, p *serve.Postgres) ([]Row, error) {
		return b.sizeOf(ctx, engine, func(ctx context.Context, rows int) (filled, error) {
			if p == nil {
				return b.fillFolder(ctx, rows)
			}
			return b.fillDatabase(ctx, p, rows)
		})
	})
}

// sizeOf measures one engine. make returns a store with that many rows, over all tables.
func (b *Bench) sizeOf(
	ctx context.Context, engine string, make func(ctx context.Context, rows int) (filled, error),
) ([]Row, error) {
	b.say("%s: filling a store with %d rows", engine, b.Rows)
	start := b.Clock.Now()
	many, err := make(ctx, b.Rows)
	if err != nil {
		return nil, err
	}
	b.say("%s: filled in %v", engine, b.Clock.Now().Sub(start).Round(time.Second))
	got, err := b.interleave(
		ctx,
		side{"many, " + engine, many.pay},
		side{"few, " + engine, func(ctx context.Context) (sample, error) {
			few, err := make(ctx, smallRows)
			if err != nil {
				return sample{}, err
			}
			s, err := few.pay(ctx)
			return s, errors.Join(err, few.remove(ctx))
		}},
	)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%s: time a POST, 64 clients, %s rows ÷ %s",
		engine, humanize.Comma(int64(b.Rows)), humanize.Comma(smallRows))
	return []Row{
		timesRow("P10", what, 1.1, got[0], got[1], byTime),
		timesRow("P10", engine+": processor time of core and its store a POST, the same", 1.1, got[0], got[1], byCPU),
	}, many.remove(ctx)
}

// fillFolder fills the data folder of a standalone.
func (b *Bench) fillFolder(ctx context.Context, rows int) (filled, error) {
	data := b.folder("filled")
	s, err := b.programs.Standalone(ctx, data)
	if err != nil {
		return filled{}, err
	}
	_, err = b.payOnce(ctx, s.Addr, s.Key, 1)
	if err := errors.Join(err, s.Stop()); err != nil {
		return filled{}, err
	}
	return filled{
		pay: func(ctx context.Context) (out sample, err error) {
			s, err := b.programs.Standalone(ctx, data)
			if err != nil {
				return sample{}, err
			}
			defer func() { err = errors.Join(err, s.Stop()) }()
			return b.load(ctx, b.payments(s.Addr, s.Key, conns), s)
		},
		remove: func(context.Context) error { return os.RemoveAll(data) },
	}, fill.SQLite(ctx, s.Database, copies(rows/fill.SQLiteRows))
}

// fillDatabase fills a database of PostgreSQL.
func (b *Bench) fillDatabase(ctx context.Context, p *serve.Postgres, rows int) (filled, error) {
	c, err := b.programs.Core(ctx, p)
	if err != nil {
		return filled{}, err
	}
	err = b.withCore(ctx, c, func(running *serve.Process) error {
		_, err := b.payOnce(ctx, running.Addr, c.Key, 1)
		return err
	})
	if err != nil {
		return filled{}, err
	}
	return filled{
		pay:    func(ctx context.Context) (sample, error) { return b.payCore(ctx, p, c, conns) },
		remove: c.Drop,
	}, fill.Postgres(ctx, c.SQL, copies(rows/fill.PostgresRows))
}

func copies(payments int) fill.Copies {
	return fill.Copies{Count: payments, Merchants: merchants, Span: history}
}
