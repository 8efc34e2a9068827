package bench

import (
	"context"
	"fmt"
	"net/http"
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
func footprint(b *Bench) {
	data := b.folder("data")
	memory := Row{ID: "P8", What: "resident memory, 64 clients posting", Unit: "MB", Reach: 80, AtMost: true}
	b.within(func() {
		s := b.standalone(data)
		plan := b.payments(s.addr, s.key, conns)
		plan.Warmup, plan.For, plan.Clock = b.warmup(), memoryLoad, b.Clock
		r := must(load.Run(b.ctx, plan))
		memory.Value = float64(s.peakMemory()) / 1e6
		memory.Absolute = fmt.Sprintf("peak over %d payments", len(r.Latencies))
	})
	var times []float64
	for range starts {
		b.within(func() { times = append(times, float64(b.startTime(data))/float64(time.Millisecond)) })
	}
	b.add(Row{
		ID: "P8", What: "start to first response, folder in use", Absolute: fmt.Sprintf("median of %d starts", starts),
		Unit: "ms", Reach: 100, AtMost: true,
	}, times)
	b.report.Rows = append(b.report.Rows, memory)
}

// startTime starts a server on data, and returns the time from the start until it reports health.
func (b *Bench) startTime(data string) time.Duration {
	addr := programtest.MustPort(b)
	ctx, cancel := context.WithTimeout(b.ctx, startLimit)
	defer cancel()
	start := b.Clock.Now()
	b.launch(data, addr)
	health := []byte("GET /v1/health HTTP/1.1\r\nHost: " + addr + "\r\n\r\n")
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		response, err := load.Send(ctx, addr, health)
		if err == nil && response.Status == http.StatusOK {
			return b.Clock.Now().Sub(start)
		}
		select {
		case <-ctx.Done():
			b.Fatalf("no response from %s: %w", addr, ctx.Err())
		case <-tick.C:
		}
	}
}
