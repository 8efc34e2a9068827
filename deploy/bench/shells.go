package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// edges are the ways to one core that M1 and M2 compare.
type edges struct {
	*merchant
	ciphers []*cipher
	core    *server
	filter  *serve.Filter
	envoy   *serve.Envoy
	bare    *serve.Listening
}

// withEdges gives fn a filter, an Envoy and a reverse proxy that does nothing, all in front of one server.
func (b *Bench) withEdges(ctx context.Context, fn func(*edges) error) error {
	return b.withServer(ctx, func(s *server) (err error) {
		e := &edges{core: s, ciphers: ciphers()}
		folder := b.folder("mle-filter")
		if e.filter, err = serve.StartFilter(ctx, b.programs.Filter, folder, s.Addr); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, e.filter.Stop()) }()
		if _, err := b.await(ctx, e.filter.Addr, 0); err != nil {
			return err
		}
		if e.bare, err = b.awaited(ctx)(serve.StartPassthrough(ctx, b.programs.Passthrough, b.folder("passthrough")+".log", s.Addr)); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, e.bare.Stop()) }()
		if e.envoy, err = serve.StartEnvoy(ctx, b.Root, b.folder("envoy"), s.Addr, e.filter.Socket); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, e.envoy.Stop()) }()
		if _, err := b.await(ctx, e.envoy.Plain, 0); err != nil {
			return err
		}
		e.merchant = &merchant{program: b.programs.Filter, folder: folder, addr: e.filter.Addr, key: s.Key}
		for _, c := range e.ciphers {
			if err := e.prepare(ctx, c); err != nil {
				return err
			}
			for _, addr := range []string{e.filter.Addr, e.envoy.Processed} {
				if err := b.proven(ctx, e.merchant, addr, c); err != nil {
					return fmt.Errorf("%s by %s: %w", c.name, addr, err)
				}
			}
		}
		return fn(e)
	})
}

// shells gives M1: what each shell of mle-filter adds to a payment, for a lone client.
func shells(ctx context.Context, b *Bench) (rows []Row, err error) {
	err = b.withEdges(ctx, func(e *edges) error {
		for _, shell := range []struct{ name, plain, without, with string }{
			{"HTTP hop ÷ reverse proxy", "bare reverse proxy", e.bare.Addr, e.filter.Addr},
			{"Envoy with ext_proc ÷ Envoy", "plain Envoy", e.envoy.Plain, e.envoy.Processed},
		} {
			got, err := b.shell(ctx, e, shell.plain, shell.without, shell.with)
			if err != nil {
				return err
			}
			rows = append(rows, shellRows(shell.name, e.ciphers, got)...)
		}
		return nil
	})
	return rows, err
}

// shell measures a way without the filter, and then with it in the clear and by each cipher.
func (b *Bench) shell(ctx context.Context, e *edges, name, without, with string) ([][]sample, error) {
	through := func(addr, what string, request *load.Request, want load.Want) side {
		return side{what, func(ctx context.Context, _ int) (sample, error) {
			r, err := load.Run(ctx, load.Plan{
				Addr: addr, Conns: 1, Request: request, Fill: b.freshKey, Want: want, Warmup: b.warmup(), For: b.Each, Clock: b.Clock,
			})
			if err != nil {
				return sample{}, err
			}
			return sampleOf(r), nil
		}}
	}
	var sides []side
	for _, way := range []struct{ addr, name string }{{without, name}, {with, "in the clear"}} {
		request, err := e.clear(way.addr)
		if err != nil {
			return nil, err
		}
		sides = append(sides, through(way.addr, way.name, request, created(false)))
	}
	for _, c := range e.ciphers {
		request, err := e.request(with, c)
		if err != nil {
			return nil, err
		}
		sides = append(sides, through(with, c.name, request, sealedWant()))
	}
	return b.interleave(ctx, sides...)
}

// shellRows are the rows of one shell: got has the way without the filter first.
func shellRows(name string, by []*cipher, got [][]sample) (rows []Row) {
	traffic := []string{"in the clear"}
	for _, c := range by {
		traffic = append(traffic, c.name)
	}
	for _, of := range []struct {
		name string
		f    func(sample) float64
	}{{"p50", byP50}, {"p99", byP99}} {
		for i, t := range traffic {
			ours, plain := got[i+1], got[0]
			r := Row{ID: "M1", What: fmt.Sprintf("%s of a payment, 1 client, %s, %s", of.name, name, t), AtMost: true}
			r.ratio(ours, plain, of.f)
			added := make([]float64, len(ours))
			for k := range ours {
				added[k] = 1000 * (of.f(ours[k]) - of.f(plain[k]))
			}
			r.Absolute = fmt.Sprintf("%s, added %.2f ms", milliseconds(ours, plain, of.f), median(added))
			rows = append(rows, r)
		}
	}
	return rows
}
