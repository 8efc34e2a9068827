package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

const (
	// bankClients is how many clients P4 has, and branches what pgbench's tables are for: more branches than clients, so that none waits for a row.
	bankClients, branches = 32, 64
	// mostCores is how many cores M3 runs at once at most, and coresClients how many clients they share.
	mostCores, coresClients = 3, 48
)

// onServer gives P4: payments per second of core on PostgreSQL, against pgbench's transactions on the same server.
func onServer(ctx context.Context, b *Bench) (rows []Row, err error) {
	err = b.withPostgres(ctx, func(p *serve.Postgres) error {
		if err := p.FillBank(ctx, branches); err != nil {
			return err
		}
		got, err := b.interleave(
			ctx,
			side{"core, PostgreSQL", b.coresSide(p, 1, bankClients)},
			side{"pgbench TPC-B", func(ctx context.Context, _ int) (sample, error) {
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
		r := Row{ID: "P4", What: "POST /v1/transactions, core on PostgreSQL, 32 clients ÷ pgbench TPC-B-like", Reach: 1.1}
		r.ratio(got[0], got[1], byRate)
		r.Absolute = perSecond(got[0], got[1])
		rows = []Row{r}
		return nil
	})
	return rows, err
}

// cores gives M3: payments per second of one, two and three cores on one PostgreSQL.
func cores(ctx context.Context, b *Bench) (rows []Row, err error) {
	err = b.withPostgres(ctx, func(p *serve.Postgres) error {
		var sides []side
		for n := range mostCores {
			sides = append(sides, side{fmt.Sprintf("cores: %d", n+1), b.coresSide(p, n+1, coresClients)})
		}
		got, err := b.interleave(ctx, sides...)
		if err != nil {
			return err
		}
		for n := 1; n < mostCores; n++ {
			r := Row{ID: "M3", What: fmt.Sprintf("%d cores ÷ 1 on one PostgreSQL, %d clients", n+1, coresClients)}
			r.ratio(got[n], got[0], byRate)
			r.Absolute = perSecond(got[n], got[0])
			rows = append(rows, r)
		}
		return nil
	})
	return rows, err
}

// withPostgres gives fn a server of PostgreSQL, and removes it afterwards.
func (b *Bench) withPostgres(ctx context.Context, fn func(*serve.Postgres) error) error {
	p, err := serve.StartPostgres(ctx)
	if err != nil {
		return err
	}
	b.say("PostgreSQL with %s, fsync and synchronous_commit on", strings.Join(serve.Settings(), ", "))
	return errors.Join(fn(p), b.halt(p))
}

// halt removes a server and remembers what it used.
func (b *Bench) halt(p *serve.Postgres) error {
	used, err := p.CPU()
	b.servers += used
	return errors.Join(err, p.Stop())
}

// coresSide posts payments from so many clients, spread over n cores, on an empty database.
func (b *Bench) coresSide(p *serve.Postgres, n, clients int) func(context.Context, int) (sample, error) {
	return func(ctx context.Context, _ int) (out sample, err error) {
		database, err := p.NewDatabase(ctx)
		if err != nil {
			return out, err
		}
		c, err := serve.MakeCores(ctx, b.programs.Core, p, database, nil)
		if err != nil {
			return out, err
		}
		var at []string
		var running []*serve.Listening
		for range n {
			one, err := b.awaited(ctx)(c.Start(ctx, b.folder("core")+".log"))
			if err != nil {
				return out, err
			}
			running, at = append(running, one), append(at, one.Addr)
		}
		if _, err = p.SQL(ctx, database, "CHECKPOINT"); err == nil { // nobody writes what another one has left
			out, err = b.payAt(ctx, c.Key, at, clients/n)
		}
		for _, one := range running {
			err = errors.Join(err, one.Stop())
		}
		if err == nil {
			_, err = p.SQL(ctx, "postgres", "DROP DATABASE "+database)
		}
		return out, err
	}
}

// payAt posts payments from so many clients to each address.
func (b *Bench) payAt(ctx context.Context, key string, at []string, clients int) (sample, error) {
	results, errs := make([]*load.Result, len(at)), make([]error, len(at))
	var wg sync.WaitGroup
	for i, addr := range at {
		wg.Go(func() {
			post, err := load.NewRequest("POST", addr, "/v1/transactions", []string{
				"Authorization: Bearer " + key, "Content-Type: application/json", "Idempotency-Key: {slot}",
			}, paymentBody, keyWidth)
			if err != nil {
				errs[i] = err
				return
			}
			results[i], errs[i] = load.Run(ctx, load.Plan{
				Addr: addr, Conns: clients, Request: post, Fill: b.freshKey, Want: created(false), Warmup: b.warmup(), For: b.Each, Clock: b.Clock,
			})
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return sample{}, err
	}
	all := &load.Result{For: b.Each}
	for _, r := range results {
		all.Latencies = append(all.Latencies, r.Latencies...)
	}
	all.Sort()
	return sampleOf(all), nil
}
