package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/bare"
	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// throughput gives P1 and P2: payments per second against the same rows without a service, and against a server that stores nothing.
func throughput(ctx context.Context, b *Bench) ([]Row, error) {
	template, err := b.learn(ctx)
	if err != nil {
		return nil, err
	}
	sides := []side{{"causeway", b.paySide(conns)}}
	if b.wants("P1") {
		sides = append(sides, side{"bare loop", b.groupSide(template)})
	}
	if b.wants("P2") {
		mock, err := b.startMock(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { _ = mock.Stop() }() // its answers were checked
		sides = append(sides, side{"stripe-mock", b.chargeSide(mock)})
	}
	got, err := b.interleave(ctx, sides...)
	if err != nil {
		return nil, err
	}
	var rows []Row
	if b.wants("P1") {
		r := Row{ID: "P1", What: "POST /v1/transactions, 64 clients ÷ bare loop, group commit", Reach: 0.5}
		r.ratio(got[0], got[1], byRate)
		r.Absolute = perSecond(got[0], got[1])
		rows = append(rows, r)
	}
	if b.wants("P2") {
		rows = append(rows, againstMock(got[0], got[len(got)-1])...)
	}
	return rows, nil
}

func againstMock(ours, theirs []sample) []Row {
	rate := Row{ID: "P2", What: "the same ÷ stripe-mock POST /v1/charges"}
	rate.ratio(ours, theirs, byRate)
	rate.Absolute = perSecond(ours, theirs)
	tail := Row{ID: "P2", What: "p99 of it ÷ p99 of stripe-mock", AtMost: true}
	tail.ratio(ours, theirs, byP99)
	tail.Absolute = milliseconds(ours, theirs, byP99)
	return []Row{rate, tail}
}

// paySide posts payments from n clients to a server with an empty store.
func (b *Bench) paySide(n int) func(context.Context, int) (sample, error) {
	return func(ctx context.Context, _ int) (out sample, err error) {
		err = b.withServer(ctx, func(s *server) error {
			r, err := b.pay(ctx, s, n, b.Each)
			if err != nil {
				return err
			}
			out = sampleOf(r)
			return nil
		})
		return out, err
	}
}

// groupSide writes groups of as many payments as P1 has clients to an empty file.
func (b *Bench) groupSide(t *bare.Template) func(context.Context, int) (sample, error) {
	return func(ctx context.Context, _ int) (sample, error) {
		return b.bareSide(ctx, t, conns, func(l *bare.Loop) error { return l.Group(conns) })
	}
}

// bareSide repeats step, which writes n payments, on an empty file.
func (b *Bench) bareSide(ctx context.Context, t *bare.Template, n int, step func(*bare.Loop) error) (sample, error) {
	path := b.folder("bare") + ".db"
	l, err := bare.Open(ctx, path, t)
	if err != nil {
		return sample{}, err
	}
	out, err := b.repeat(ctx, n, func() error { return step(l) })
	return out, errors.Join(err, l.Close(), removeDatabase(path))
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

func (b *Bench) startMock(ctx context.Context) (*serve.Listening, error) {
	return b.awaited(ctx)(serve.StartMock(ctx, b.programs.Mock, b.folder("stripe-mock")+".log"))
}

// awaited returns a started program when it listens.
func (b *Bench) awaited(ctx context.Context) func(*serve.Listening, error) (*serve.Listening, error) {
	return func(p *serve.Listening, err error) (*serve.Listening, error) {
		if err != nil {
			return nil, err
		}
		if _, err := b.await(ctx, p.Addr, 0); err != nil {
			return nil, errors.Join(err, p.Stop())
		}
		return p, nil
	}
}

// chargeSide posts charges to the mock.
func (b *Bench) chargeSide(m *serve.Listening) func(context.Context, int) (sample, error) {
	return func(ctx context.Context, _ int) (sample, error) {
		headers := []string{"Authorization: Bearer sk_test_123", "Content-Type: application/x-www-form-urlencoded"}
		charge, err := load.NewRequest("POST", m.Addr, "/v1/charges", headers, "amount=2000&currency=usd&source=tok_visa", 0)
		if err != nil {
			return sample{}, err
		}
		r, err := load.Run(ctx, load.Plan{
			Addr: m.Addr, Conns: conns, Request: charge, Want: load.Want{Status: 200, Contains: []byte(`"object":"charge"`)},
			Warmup: b.warmup(), For: b.Each, Clock: b.Clock,
		})
		if err != nil {
			return sample{}, err
		}
		return sampleOf(r), nil
	}
}

func perSecond(ours, theirs []sample) string {
	return fmt.Sprintf("%s ÷ %s", thousands(middle(ours, byRate)), thousands(middle(theirs, byRate)))
}

func milliseconds(ours, theirs []sample, f func(sample) float64) string {
	return fmt.Sprintf("%.2f ms ÷ %.2f ms", 1000*middle(ours, f), 1000*middle(theirs, f))
}

// thousands shows a rate as 11,200/s.
func thousands(rate float64) string {
	n := int(rate + 0.5)
	if n < 1000 {
		return fmt.Sprintf("%d/s", n)
	}
	return fmt.Sprintf("%d,%03d/s", n/1000, n%1000)
}

// removeDatabase removes a database file and what SQLite keeps beside it.
func removeDatabase(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
