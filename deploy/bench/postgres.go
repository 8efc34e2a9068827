package bench

import (
	"context"
	"errors"
	"strings"

	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// bankClients is the number of clients of P4. branches is the size of pgbench's tables: more
// branches than clients, so that no client waits for a row.
const bankClients, branches = 32, 64

// onServer measures P4: payments per second of core on PostgreSQL, against pgbench's transactions
// on the same server.
func onServer(ctx context.Context, b *Bench) (rows []Row, err error) {
	err = b.withPostgres(ctx, func(p *serve.Postgres) error {
		if err := p.FillBank(ctx, branches); err != nil {
			return err
		}
		got, err := b.interleave(
			ctx,
			side{"core, PostgreSQL", func(ctx context.Context) (sample, error) { return b.payEmpty(ctx, p) }},
			side{"pgbench TPC-B", func(ctx context.Context) (sample, error) {
				if _, err := p.SQL(ctx, serve.Bank, "CHECKPOINT"); err != nil {
					return sample{}, err
				}
				rate, mean, err := p.RunBank(ctx, bankClients, b.Each)
				return sample{rate: rate, p50: mean}, err
			}},
		)
		if err != nil {
			return err
		}
		rows = []Row{
			ratesRow("P4", "POST /v1/transactions, core on PostgreSQL, 32 clients ÷ pgbench TPC-B-like", 1.1, got[0], got[1]),
		}
		return nil
	})
	return rows, err
}

// withPostgres calls fn with a PostgreSQL server, and removes the server afterwards.
func (b *Bench) withPostgres(ctx context.Context, fn func(*serve.Postgres) error) error {
	p, err := serve.StartPostgres(ctx)
	if err != nil {
		return err
	}
	b.say("PostgreSQL with %s, fsync and synchronous_commit on", strings.Join(serve.Settings(), ", "))
	err = fn(p)
	used, lost := p.CPU()
	b.servers += used
	return errors.Join(err, lost, p.Stop())
}

// onBoth calls measure for SQLite, with nil, and for a PostgreSQL server. It returns the rows of
// both.
func (b *Bench) onBoth(
	ctx context.Context, measure func(engine string, p *serve.Postgres) ([]Row, error),
) ([]Row, error) {
	rows, err := measure("SQLite", nil)
	if err != nil {
		return rows, err
	}
	err = b.withPostgres(ctx, func(p *serve.Postgres) error {
		more, err := measure("PostgreSQL", p)
		rows = append(rows, more...)
		return err
	})
	return rows, err
}

// payEmpty posts payments to a core on an empty database.
func (b *Bench) payEmpty(ctx context.Context, p *serve.Postgres) (sample, error) {
	c, err := b.programs.Core(ctx, p)
	if err != nil {
		return sample{}, err
	}
	out, err := b.payCore(ctx, p, c, bankClients)
	if err == nil {
		err = c.Drop(ctx)
	}
	return out, err
}

// payCore starts a core, posts payments behind a checkpoint, and stops the core. The processor time
// is that of the core and of PostgreSQL.
func (b *Bench) payCore(ctx context.Context, p *serve.Postgres, c *serve.Core, clients int) (out sample, err error) {
	err = b.withCore(ctx, c, func(running *serve.Process) error {
		if _, err := c.SQL(ctx, "CHECKPOINT"); err != nil { // no side writes the pages of another one
			return err
		}
		out, err = b.load(ctx, b.payments(running.Addr, c.Key, clients), running, p)
		return err
	})
	return out, err
}

// withCore calls fn with a running core.
func (b *Bench) withCore(ctx context.Context, c *serve.Core, fn func(*serve.Process) error) error {
	running, err := c.Start(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fn(running), running.Stop())
}
