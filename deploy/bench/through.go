package bench

import "github.com/causeway-pay/causeway/deploy/bench/load"

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
func through(b *Bench) {
	p := b.proxies()
	for _, d := range dialects() {
		b.samePayment(p, d)
	}
	for _, press := range pressures() {
		b.press(p, press)
	}
}

// press measures every dialect and the same payments of v1 under one pressure.
func (b *Bench) press(p *proxies, press pressure) {
	var sides []side
	add := func(name, addr string, r *load.Request, want load.Want) {
		plan := load.Plan{Addr: addr, Conns: press.conns, Rate: press.rate, Request: r, Fill: b.freshKey, Want: want}
		sides = append(sides, side{name + ", " + press.name, func() sample { return b.load(plan) }})
	}
	for _, d := range dialects() {
		add(d.name, p.compat.addr, d.request(p, b.Clock.Now()), d.want)
		add("bare "+d.name, p.bare.addr, d.plainRequest(p), d.plainWant)
	}
	got := b.interleave(sides...)
	for i, d := range dialects() {
		what := press.what + ", " + d.name + " ÷ bare reverse proxy"
		b.timesRow("P5", what, press.reach, got[2*i], got[2*i+1], press.of)
	}
}
