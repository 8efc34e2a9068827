package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// wholeEdge gives E1: what the whole edge adds to a payment.
func wholeEdge(ctx context.Context, b *Bench) (rows []Row, err error) {
	w, err := serve.StartWholeEdge(ctx, b.programs, b.Root, b.folder("edge"), b.Clock.Now())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	ways, err := b.edgeWays(w)
	if err != nil {
		return nil, err
	}
	var sides []side
	for _, way := range ways {
		if err := b.awaitWay(ctx, way); err != nil {
			return nil, err
		}
		sides = append(sides, side{way.name, b.byWay(w, way)})
	}
	got, err := b.interleave(ctx, sides...)
	if err != nil {
		return nil, err
	}
	for _, of := range []struct {
		name string
		f    func(sample) float64
	}{{"p50 of", byP50}, {"p99 of", byP99}, {"processor time of all processes for", byCPU}} {
		for i, side := range sides[1:] {
			ours, plain := got[i+1], got[0]
			r := Row{ID: "E1", What: fmt.Sprintf("%s a payment, 1 client, %s ÷ core alone", of.name, side.name), AtMost: true}
			r.ratio(ours, plain, of.f)
			added := make([]float64, len(ours))
			for k := range ours {
				added[k] = 1000 * (of.f(ours[k]) - of.f(plain[k]))
			}
			r.Absolute = fmt.Sprintf("%s, added %.2f ms", milliseconds(ours, plain, of.f), median(added))
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// edgeWay is one way to have a payment made.
type edgeWay struct {
	name    string
	addr    string
	policy  *tls.Config // nil for plain HTTP
	request *load.Request
	want    load.Want
}

// edgeWays are the same payment to core alone, and by both ways through the edge.
func (b *Bench) edgeWays(w *serve.WholeEdge) ([]edgeWay, error) {
	s := &server{Standalone: &serve.Standalone{Key: w.Key, Legacy: serve.Legacy{Name: "bench", TransactionKey: w.Key}}}
	plain, err := sale().request(w.Core, s)
	if err != nil {
		return nil, err
	}
	v1, err := sale().request("localhost", s)
	if err != nil {
		return nil, err
	}
	xml, err := dialects()[0].request("localhost", s, b.Clock.Now())
	if err != nil {
		return nil, err
	}
	return []edgeWay{
		{"core alone", w.Core, nil, plain, sale().want},
		{"Envoy, ext_proc", w.HTTPS, w.TLS, v1, sale().want},
		{"Envoy, compat-proxy", w.HTTPS, w.TLS, xml, dialects()[0].want},
	}, nil
}

func (b *Bench) plan(way edgeWay, warmup, counted time.Duration) load.Plan {
	return load.Plan{
		Addr: way.addr, TLS: way.policy, Conns: 1, Request: way.request, Fill: b.freshKey, Want: way.want, Warmup: warmup, For: counted, Clock: b.Clock,
	}
}

// byWay makes payments, and counts the processor time of all processes.
func (b *Bench) byWay(w *serve.WholeEdge, way edgeWay) func(context.Context, int) (sample, error) {
	return func(ctx context.Context, _ int) (sample, error) {
		before, err := w.CPU()
		if err != nil {
			return sample{}, err
		}
		result, err := load.Run(ctx, b.plan(way, b.warmup(), b.Each))
		if err != nil {
			return sample{}, err
		}
		after, err := w.CPU()
		out := sampleOf(result)
		out.cpu = (after - before).Seconds() / float64(result.Answered)
		return out, err
	}
}

// awaitWay waits until a payment gets the expected response: the parts of an edge start side by
// side. When the time is up it returns the last error that a payment met before that.
func (b *Bench) awaitWay(ctx context.Context, way edgeWay) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var last error
	for {
		var response load.Response
		err := load.Ask(ctx, way.addr, way.policy, way.request.Bytes(b.freshKey, 0), &response)
		if err == nil {
			err = way.want.Check(&response)
		}
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %v: %w", way.name, startLimit, last)
		case <-tick.C:
		}
	}
}
