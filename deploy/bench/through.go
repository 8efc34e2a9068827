package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// proxies are compat-proxy and a reverse proxy that does nothing, both in front of one server.
type proxies struct {
	core         *serve.Standalone
	compat, bare *serve.Process
}

// pressure is a way to load the proxies.
type pressure struct {
	name  string
	conns int
	rate  float64 // 0 for a closed loop
	of    func(sample) float64
	what  string // of measures
	reach float64
}

func pressures() []pressure {
	return []pressure{
		{name: "1 client", conns: 1, of: byP50, what: "p50 of a payment, 1 client", reach: 1.25},
		{name: "4 clients", conns: 4, of: byP50, what: "p50 of a payment, 4 clients", reach: 1.25},
		{name: "1,000/s", conns: conns, rate: steady, of: byP99, what: "p99 of a payment at 1,000/s", reach: 1.3},
	}
}

// through measures P5: the time of a payment for a legacy client at compat-proxy. The yardstick is
// a v1 client at a reverse proxy that does nothing.
func through(ctx context.Context, b *Bench) (rows []Row, err error) {
	err = b.withServer(ctx, func(s *serve.Standalone) error {
		return b.withProxies(ctx, s, func(p *proxies) error {
			for _, d := range dialects() {
				if err := b.samePayment(ctx, p, d); err != nil {
					return fmt.Errorf("%s: %w", d.name, err)
				}
			}
			for _, press := range pressures() {
				more, err := b.press(ctx, p, press)
				if err != nil {
					return err
				}
				rows = append(rows, more...)
			}
			return nil
		})
	})
	return rows, err
}

// withProxies calls fn with both proxies in front of s.
func (b *Bench) withProxies(ctx context.Context, s *serve.Standalone, fn func(*proxies) error) (err error) {
	p := &proxies{core: s}
	if p.compat, err = b.programs.Proxy(ctx, s); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.compat.Stop()) }()
	if p.bare, err = b.programs.Passthrough(ctx, s); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.bare.Stop()) }()
	return fn(p)
}

// press measures every dialect and the same payments of v1 under one pressure.
func (b *Bench) press(ctx context.Context, p *proxies, press pressure) ([]Row, error) {
	var sides []side
	add := func(name, addr string, r *load.Request, want load.Want) {
		sides = append(sides, side{name + ", " + press.name, func(ctx context.Context) (sample, error) {
			return b.load(ctx, load.Plan{
				Addr: addr, Conns: press.conns, Rate: press.rate, Request: r, Fill: b.freshKey, Want: want,
			})
		}})
	}
	for _, d := range dialects() {
		legacy, err := d.request(p.compat.Addr, p.core, b.Clock.Now())
		if err != nil {
			return nil, err
		}
		plain, err := d.plainRequest(p.bare.Addr, p.core)
		if err != nil {
			return nil, err
		}
		add(d.name, p.compat.Addr, legacy, d.want)
		add("bare "+d.name, p.bare.Addr, plain, d.plainWant)
	}
	got, err := b.interleave(ctx, sides...)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for i, d := range dialects() {
		what := press.what + ", " + d.name + " ÷ bare reverse proxy"
		rows = append(rows, timesRow("P5", what, press.reach, got[2*i], got[2*i+1], press.of))
	}
	return rows, nil
}
