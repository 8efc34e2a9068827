package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
	"github.com/causeway-pay/causeway/shared/programtest"
)

const (
	starts     = 10               // how often the start is timed
	memoryLoad = 10 * time.Second // how long memory is watched
	pollEvery  = 200 * time.Microsecond
	startLimit = 10 * time.Second
)

// footprint gives P8: resident memory under load and, on the folder that this has filled, the time from start to first answer.
func footprint(ctx context.Context, b *Bench) ([]Row, error) {
	data := b.folder("data")
	peak, n, err := b.memory(ctx, data)
	if err != nil {
		return nil, err
	}
	var times []float64
	for range starts {
		d, err := b.startTime(ctx, data)
		if err != nil {
			return nil, err
		}
		times = append(times, float64(d)/float64(time.Millisecond))
	}
	start := Row{
		ID: "P8", What: "start to first answer, folder in use", Absolute: fmt.Sprintf("median of %d starts", starts), Value: median(times),
		Unit: "ms", Reach: 100, AtMost: true, Spread: [2]float64{slices.Min(times), slices.Max(times)},
	}
	memory := Row{
		ID: "P8", What: "resident memory, 64 clients posting", Absolute: fmt.Sprintf("peak over %d payments", n), Value: peak,
		Unit: "MB", Reach: 80, AtMost: true,
	}
	return []Row{start, memory}, os.RemoveAll(data)
}

// memory posts to a server on data and returns its highest resident memory in MB and how many payments were counted meanwhile.
func (b *Bench) memory(ctx context.Context, data string) (mb float64, payments int, err error) {
	s, err := b.startServer(ctx, data)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	var peak atomic.Int64
	watch, stop := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() { watched <- watchMemory(watch, s.Process, &peak) }()
	r, err := b.pay(ctx, s, conns, memoryLoad)
	stop()
	if err = errors.Join(err, <-watched); err != nil {
		return 0, 0, err
	}
	return float64(peak.Load()) / 1e6, len(r.Latencies), nil
}

// watchMemory keeps the highest resident memory of p in peak until ctx ends.
func watchMemory(ctx context.Context, p *serve.Process, peak *atomic.Int64) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		n, err := p.Resident()
		if err != nil {
			return err
		}
		peak.Store(max(peak.Load(), n))
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// startTime starts a server on data, at an address known before, and returns how long it took until it said that it is healthy.
func (b *Bench) startTime(ctx context.Context, data string) (time.Duration, error) {
	addr, err := programtest.Port(ctx)
	if err != nil {
		return 0, err
	}
	start := b.Clock.Now()
	p, err := serve.Launch(ctx, b.programs.Standalone, data, addr)
	if err != nil {
		return 0, err
	}
	ready, err := b.await(ctx, addr, 200)
	return ready.Sub(start), errors.Join(err, p.Stop())
}

// await asks for the health of the server at addr until it answers with the status, 0 for any, and returns when that was.
func (b *Bench) await(ctx context.Context, addr string, status int) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	health, err := load.NewRequest("GET", addr, "/v1/health", nil, "", 0)
	if err != nil {
		return time.Time{}, err
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if got := ask(ctx, addr, health.Bytes(nil, 0)); got != 0 && (status == 0 || got == status) {
			return b.Clock.Now(), nil
		}
		select {
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("no answer from %s: %w", addr, ctx.Err())
		case <-tick.C:
		}
	}
}

// ask returns the status of the answer to one request, 0 when none came.
func ask(ctx context.Context, addr string, request []byte) int {
	var a load.Response
	if err := load.Ask(ctx, addr, nil, request, &a); err != nil {
		return 0
	}
	return a.Status
}
