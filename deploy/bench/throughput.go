package bench

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/bare"
	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// throughput measures P1: payments per second, against the same rows without a service.
func throughput(b *Bench) {
	group := func(l *bare.Loop) error { return l.Group(conns) }
	got := b.interleave(side{"causeway", b.paySide(conns)}, side{"bare loop", b.bareSide(conns, group)})
	b.ratesRow("P1", "POST /v1/transactions, 64 clients ÷ bare loop, group commit", 0.5, got[0], got[1])
}

// againstMock measures P2: payments per second, against a server that stores nothing.
func againstMock(b *Bench) {
	addr := b.listen(nil, must(programtest.InstallGo(b.ctx, mockModule)), "-http-addr").addr
	headers := []string{"Authorization: Bearer sk_test_123", "Content-Type: application/x-www-form-urlencoded"}
	charge := load.Plan{
		Addr: addr, Conns: conns, Want: load.Want{Status: 200, Contains: []byte(`"object":"charge"`)},
		Request: must(load.NewRequest("POST", addr, "/v1/charges", headers, "amount=2000&currency=usd&source=tok_visa", 0)),
	}
	got := b.interleave(
		side{"causeway", b.paySide(conns)}, side{"stripe-mock", func() sample { return b.load(charge) }},
	)
	b.ratesRow("P2", "POST /v1/transactions, 64 clients ÷ stripe-mock POST /v1/charges", 0, got[0], got[1])
	b.timesRow("P2", "p99 of it ÷ p99 of stripe-mock", 0, got[0], got[1], byP99)
}

// latency measures P3: the time of a payment for a lone client, against one commit of all rows that
// the payment leaves behind.
func latency(b *Bench) {
	got := b.interleave(
		side{"causeway", b.paySide(1)}, side{"bare commit", b.bareSide(1, (*bare.Loop).Single)},
	)
	b.timesRow("P3", "p50 of the POST, 1 client ÷ p50 of one commit of its rows", 2.6, got[0], got[1], byP50)
}

// paySide posts payments from n clients to a server with an empty store.
func (b *Bench) paySide(n int) func() sample {
	return func() sample {
		s := b.server()
		return b.load(b.payments(s.addr, s.key, n))
	}
}

// bareSide repeats step, which writes n payments, on an empty file.
func (b *Bench) bareSide(n int, step func(*bare.Loop) error) func() sample {
	t := b.learn()
	return func() sample {
		dir := b.folder("bare")
		check(os.Mkdir(dir, 0o700))
		l := must(bare.Open(b.ctx, filepath.Join(dir, "bare.db"), t))
		b.Cleanup(func() { check(l.Close()) })
		return b.repeat(n, func() error { return step(l) })
	}
}

// repeat runs step until a side of a round is over, and returns the rate and the times. Each step
// writes n payments.
func (b *Bench) repeat(n int, step func() error) sample {
	from := b.Clock.Now().Add(b.warmup())
	until := from.Add(b.Each)
	r := load.Result{For: b.Each}
	var begun time.Time
	last := b.Clock.Now()
	for last.Before(until) {
		check(step())
		now := b.Clock.Now()
		switch {
		case !begun.IsZero():
			r.Latencies = append(r.Latencies, now.Sub(last))
		case !now.Before(from):
			begun = now
		}
		last = now
		check(b.ctx.Err())
	}
	slices.Sort(r.Latencies)
	s := sampleOf(&r)
	s.rate = float64(n*len(r.Latencies)) / last.Sub(begun).Seconds()
	return s
}
