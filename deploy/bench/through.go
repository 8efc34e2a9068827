package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// few is how many clients P5 has besides a lone one.
const few = 4

// proxies are compat-proxy and the reverse proxy that does nothing, both in front of one server.
type proxies struct {
	core         *server
	compat, bare *serve.Listening
}

// pressure is a way to load the proxies.
type pressure struct {
	name  string
	conns int
	rate  float64 // 0: each client as fast as it is answered
	of    func(sample) float64
	what  string // of measures
	reach float64
}

func pressures() []pressure {
	return []pressure{
		{name: "1 client", conns: 1, of: byP50, what: "p50 of a payment, 1 client", reach: 1.25},
		{name: fmt.Sprintf("%d clients", few), conns: few, of: byP50, what: fmt.Sprintf("p50 of a payment, %d clients", few), reach: 1.25},
		{name: "1,000/s", conns: conns, rate: steady, of: byP99, what: "p99 of a payment at 1,000/s", reach: 1.3},
	}
}

// through gives P5: what a legacy client waits for a payment by compat-proxy, against a v1 client for the same payment by a reverse proxy
// that does nothing.
func through(ctx context.Context, b *Bench) (rows []Row, err error) {
	err = b.withServer(ctx, func(s *server) error {
		return b.withProxies(ctx, s, func(p *proxies) error {
			if err := b.samePayment(ctx, p); err != nil {
				return err
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

// withProxies gives fn both proxies in front of s.
func (b *Bench) withProxies(ctx context.Context, s *server, fn func(*proxies) error) (err error) {
	p := &proxies{core: s}
	log := b.folder("compat-proxy") + ".log"
	if p.compat, err = b.awaited(ctx)(serve.StartProxy(ctx, b.programs.Proxy, log, s.Addr, s.Logins)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.compat.Stop()) }()
	log = b.folder("passthrough") + ".log"
	if p.bare, err = b.awaited(ctx)(serve.StartPassthrough(ctx, b.programs.Passthrough, log, s.Addr)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.bare.Stop()) }()
	return fn(p)
}

// press measures every dialect and the bare sides under one pressure.
func (b *Bench) press(ctx context.Context, p *proxies, press pressure) ([]Row, error) {
	var sides []side
	for _, plain := range bares() {
		r, err := plain.request(p.bare.Addr, p.core)
		if err != nil {
			return nil, err
		}
		sides = append(sides, side{"bare " + plain.name + ", " + press.name, b.pressed(p.bare, press, r, plain.want)})
	}
	for _, d := range dialects() {
		r, err := d.request(p.compat.Addr, p.core, b.Clock.Now())
		if err != nil {
			return nil, err
		}
		sides = append(sides, side{d.name + ", " + press.name, b.pressed(p.compat, press, r, d.want)})
	}
	got, err := b.interleave(ctx, sides...)
	if err != nil {
		return nil, err
	}
	return pressRows(press, got[:len(bares())], got[len(bares()):]), nil
}

// pressRows are the rows of one pressure.
func pressRows(press pressure, plain, ours [][]sample) []Row {
	var rows, cpu []Row
	for i, d := range dialects() {
		against := plain[place(bares(), d.bare)]
		row := Row{ID: "P5", What: press.what + ", " + d.name + " ÷ bare reverse proxy", AtMost: true}
		if d.reach {
			row.Reach = press.reach
		}
		row.ratio(ours[i], against, press.of)
		row.Absolute = milliseconds(ours[i], against, press.of)
		rows = append(rows, row)
		if press.rate > 0 && d.reach {
			row := Row{ID: "P5", What: "the proxy's processor time a payment, the same, " + d.name, AtMost: true}
			row.ratio(ours[i], against, byCPU)
			row.Absolute = milliseconds(ours[i], against, byCPU)
			cpu = append(cpu, row)
		}
	}
	return append(rows, cpu...)
}

// pressed sends a payment to a proxy and counts the proxy's own processor time, too.
func (b *Bench) pressed(p *serve.Listening, press pressure, r *load.Request, want load.Want) func(context.Context, int) (sample, error) {
	return func(ctx context.Context, _ int) (sample, error) {
		before, err := p.CPU()
		if err != nil {
			return sample{}, err
		}
		result, err := load.Run(ctx, load.Plan{
			Addr: p.Addr, Conns: press.conns, Rate: press.rate, Request: r, Fill: b.freshKey, Want: want, Warmup: b.warmup(), For: b.Each,
			Clock: b.Clock,
		})
		if err != nil {
			return sample{}, err
		}
		after, err := p.CPU()
		out := sampleOf(result)
		out.cpu = (after - before).Seconds() / float64(result.Answered)
		return out, err
	}
}
