package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// steady is the rate of P9, in requests a second.
const steady = 1000

// tail gives P9: how long the slowest of a hundred payments takes when they come at a fixed rate.
func tail(ctx context.Context, b *Bench) ([]Row, error) {
	got, err := b.interleave(
		ctx,
		side{"automatic", b.steadySide(func(s *server) *load.Request { return s.post }, "captured")},
		side{"manual", b.steadySide(func(s *server) *load.Request { return s.hold }, "authorized")},
	)
	if err != nil {
		return nil, err
	}
	return []Row{
		tailRow("p99 of the POST at 1,000/s, captured at once", got[0]),
		tailRow("p99 of the POST at 1,000/s, captured later", got[1]),
	}, nil
}

func tailRow(what string, samples []sample) Row {
	rounds := make([]float64, len(samples))
	for i, s := range samples {
		rounds[i] = 1000 * byP99(s)
	}
	return Row{
		ID: "P9", What: what, Absolute: fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", 1000*middle(samples, byP50), median(rounds)),
		Value: median(rounds), Unit: "ms", Reach: 10, AtMost: true, Spread: [2]float64{slices.Min(rounds), slices.Max(rounds)},
	}
}

// steadySide posts at the steady rate to a server with an empty store. Each payment has to end in status.
func (b *Bench) steadySide(which func(*server) *load.Request, status string) func(context.Context, int) (sample, error) {
	want := load.Want{Status: 201, Contains: []byte(`"status":"` + status + `"`)}
	return func(ctx context.Context, _ int) (out sample, err error) {
		err = b.withServer(ctx, func(s *server) error {
			r, err := load.Run(ctx, load.Plan{
				Addr: s.Addr, Conns: conns, Rate: steady, Request: which(s), Fill: b.freshKey, Want: want, Warmup: b.warmup(), For: b.Each,
				Clock: b.Clock,
			})
			if err != nil {
				return err
			}
			out = sampleOf(r)
			return nil
		})
		return out, err
	}
}

// holdBody is the payment that is only authorized.
var holdBody = strings.Replace(paymentBody, `"automatic"`, `"manual"`, 1)
