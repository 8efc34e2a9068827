package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/bare"
	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// throughput measures P1: payments per second, against the same rows without a service.
func throughput(ctx context.Context, b *Bench) ([]Row, error) {
	template, err := b.learn(ctx)
	if err != nil {
		return nil, err
	}
	group := func(l *bare.Loop) error { return l.Group(conns) }
	got, err := b.interleave(
		ctx, side{"causeway", b.paySide(conns)}, side{"bare loop", b.bareSide(template, conns, group)},
	)
	if err != nil {
		return nil, err
	}
	return []Row{ratesRow("P1", "POST /v1/transactions, 64 clients ÷ bare loop, group commit", 0.5, got[0], got[1])}, nil
}

// againstMock measures P2: payments per second, against a server that stores nothing.
func againstMock(ctx context.Context, b *Bench) (rows []Row, err error) {
	mock, err := b.programs.Mock(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, mock.Stop()) }()
	got, err := b.interleave(ctx, side{"causeway", b.paySide(conns)}, side{"stripe-mock", b.chargeSide(mock)})
	if err != nil {
		return nil, err
	}
	return []Row{
		ratesRow("P2", "POST /v1/transactions, 64 clients ÷ stripe-mock POST /v1/charges", 0, got[0], got[1]),
		timesRow("P2", "p99 of it ÷ p99 of stripe-mock", 0, got[0], got[1], byP99),
	}, nil
}

// latency measures P3: the time of a payment for a lone client, against one commit of all rows that
// the payment leaves behind.
func latency(ctx context.Context, b *Bench) ([]Row, error) {
	template, err := b.learn(ctx)
	if err != nil {
		return nil, err
	}
	got, err := b.interleave(
		ctx, side{"causeway", b.paySide(1)}, side{"bare commit", b.bareSide(template, 1, (*bare.Loop).Single)},
	)
	if err != nil {
		return nil, err
	}
	const what = "p50 of the POST, 1 client ÷ p50 of one commit of its rows"
	return []Row{timesRow("P3", what, 2.6, got[0], got[1], byP50)}, nil
}

// paySide posts payments from n clients to a server with an empty store.
func (b *Bench) paySide(n int) func(context.Context) (sample, error) {
	return b.freshSide(func(s *serve.Standalone) load.Plan { return b.payments(s.Addr, s.Key, n) })
}

// freshSide runs a plan against a server with an empty store.
func (b *Bench) freshSide(plan func(*serve.Standalone) load.Plan) func(context.Context) (sample, error) {
	return func(ctx context.Context) (out sample, err error) {
		err = b.withServer(ctx, func(s *serve.Standalone) (err error) {
			out, err = b.load(ctx, plan(s))
			return err
		})
		return out, err
	}
}

// bareSide repeats step, which writes n payments, on an empty file.
func (b *Bench) bareSide(t *bare.Template, n int, step func(*bare.Loop) error) func(context.Context) (sample, error) {
	return func(ctx context.Context) (sample, error) {
		dir := b.folder("bare")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return sample{}, err
		}
		l, err := bare.Open(ctx, filepath.Join(dir, "bare.db"), t)
		if err != nil {
			return sample{}, err
		}
		out, err := b.repeat(ctx, n, func() error { return step(l) })
		return out, errors.Join(err, l.Close(), os.RemoveAll(dir))
	}
}

// repeat times step, which does n things, for as long as a side of a round takes.
func (b *Bench) repeat(ctx context.Context, n int, step func() error) (sample, error) {
	from := b.Clock.Now().Add(b.warmup())
	until := from.Add(b.Each)
	r := load.Result{For: b.Each}
	var begun time.Time
	last := b.Clock.Now()
	for last.Before(until) {
		if err := step(); err != nil {
			return sample{}, err
		}
		now := b.Clock.Now()
		switch {
		case !begun.IsZero():
			r.Latencies = append(r.Latencies, now.Sub(last))
		case !now.Before(from):
			begun = now
		}
		last = now
		if err := ctx.Err(); err != nil {
			return sample{}, err
		}
	}
	slices.Sort(r.Latencies)
	s := sampleOf(&r)
	s.rate = float64(n*len(r.Latencies)) / last.Sub(begun).Seconds()
	return s, nil
}

// chargeSide posts charges to the mock.
func (b *Bench) chargeSide(m *serve.Process) func(context.Context) (sample, error) {
	return func(ctx context.Context) (sample, error) {
		headers := []string{"Authorization: Bearer sk_test_123", "Content-Type: application/x-www-form-urlencoded"}
		charge, err := load.NewRequest("POST", m.Addr, "/v1/charges", headers, "amount=2000&currency=usd&source=tok_visa", 0)
		if err != nil {
			return sample{}, err
		}
		want := load.Want{Status: 200, Contains: []byte(`"object":"charge"`)}
		return b.load(ctx, load.Plan{Addr: m.Addr, Conns: conns, Request: charge, Want: want})
	}
}
