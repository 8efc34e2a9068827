package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/shared/programtest"
)

const (
	starts     = 10               // number of timed starts
	memoryLoad = 10 * time.Second // duration of the load
	pollEvery  = 200 * time.Microsecond
	startLimit = 10 * time.Second
)

// footprint measures P8: resident memory under load and, on the folder that this has filled, the
// time from the start to the first response.
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
		ID: "P8", What: "start to first response, folder in use", Absolute: fmt.Sprintf("median of %d starts", starts),
		Unit: "ms", Reach: 100, AtMost: true,
	}
	memory := Row{
		ID: "P8", What: "resident memory, 64 clients posting", Absolute: fmt.Sprintf("peak over %d payments", n), Value: peak,
		Unit: "MB", Reach: 80, AtMost: true,
	}
	return []Row{start.of(times), memory}, os.RemoveAll(data)
}

// memory posts to a server on data. It returns the highest resident memory of the server in MB and
// the number of counted payments.
func (b *Bench) memory(ctx context.Context, data string) (mb float64, payments int, err error) {
	s, err := b.programs.Standalone(ctx, data)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	plan := b.payments(s.Addr, s.Key, conns)
	plan.Warmup, plan.For, plan.Clock = b.warmup(), memoryLoad, b.Clock
	r, err := load.Run(ctx, plan)
	if err != nil {
		return 0, 0, err
	}
	peak, err := s.PeakMemory()
	return float64(peak) / 1e6, len(r.Latencies), err
}

// startTime starts a server on data, and returns the time from the start until it reports health.
func (b *Bench) startTime(ctx context.Context, data string) (time.Duration, error) {
	addr, err := programtest.Port(ctx)
	if err != nil {
		return 0, err
	}
	start := b.Clock.Now()
	p, err := b.programs.Launch(ctx, data, addr)
	if err != nil {
		return 0, err
	}
	ready, err := b.awaitHealth(ctx, addr)
	return ready.Sub(start), errors.Join(err, p.Stop())
}

// awaitHealth requests the health of the server at addr until it responds 200, and returns the time
// of that response.
func (b *Bench) awaitHealth(ctx context.Context, addr string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	health := []byte("GET /v1/health HTTP/1.1\r\nHost: " + addr + "\r\n\r\n")
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		response, err := load.Send(ctx, addr, health)
		if err == nil && response.Status == http.StatusOK {
			return b.Clock.Now(), nil
		}
		select {
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("no response from %s: %w", addr, errors.Join(err, ctx.Err()))
		case <-tick.C:
		}
	}
}
