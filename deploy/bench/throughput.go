package bench

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/bare"
	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// throughput measures P1 and P2: payments per second against the same rows without a service, and
// against a server that stores nothing.
func throughput(ctx context.Context, b *Bench) (rows []Row, err error) {
	template, err := b.learn(ctx)
	if err != nil {
		return nil, err
	}
	sides := []side{{"causeway", b.paySide(conns)}}
	if b.wants("P1") {
		group := func(l *bare.Loop) error { return l.Group(conns) }
		sides = append(sides, side{"bare loop", b.bareSide(template, conns, group)})
	}
	if b.wants("P2") {
		mock, err := b.programs.Mock(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, mock.Stop()) }()
		sides = append(sides, side{"stripe-mock", b.chargeSide(mock)})
	}
	got, err := b.interleave(ctx, sides...)
	if err != nil {
		return nil, err
	}
	ours, last := got[0], got[len(got)-1]
	if b.wants("P1") {
		rows = append(rows, ratesRow("P1", "POST /v1/transactions, 64 clients ÷ bare loop, group commit", 0.5, ours, got[1]))
	}
	if b.wants("P2") {
		rows = append(rows, ratesRow("P2", "the same ÷ stripe-mock POST /v1/charges", 0, ours, last),
			timesRow("P2", "p99 of it ÷ p99 of stripe-mock", 0, ours, last, byP99))
	}
	return rows, nil
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
	return func(ctx context.Context) (out sample, err error) {
		err = b.withServer(ctx, func(s *serve.Standalone) (err error) {
			out, err = b.load(ctx, b.payments(s.Addr, s.Key, n))
			return err
		})
		return out, err
	}
}

// bareSide repeats step, which writes n payments, on an empty file.
func (b *Bench) bareSide(t *bare.Template, n int, step func(*bare.Loop) error) func(context.Context) (sample, error) {
	return func(ctx context.Context) (sample, error) {
		path := b.folder("bare") + ".db"
		l, err := bare.Open(ctx, path, t)
		if err != nil {
			return sample{}, err
		}
		out, err := b.repeat(ctx, n, func() error { return step(l) })
		return out, errors.Join(err, l.Close(), removeDatabase(path))
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
	r.Sort()
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

// removeDatabase removes a database file and the files that SQLite keeps with it.
func removeDatabase(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
