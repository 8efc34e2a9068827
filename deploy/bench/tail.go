package bench

import (
	"context"
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// steady is the rate of P9, in requests a second.
const steady = 1000

// tail measures P9: the time of the slowest of a hundred payments that come at a fixed rate.
func tail(ctx context.Context, b *Bench) ([]Row, error) {
	hold := strings.Replace(paymentBody, `"automatic"`, `"manual"`, 1)
	got, err := b.interleave(
		ctx,
		side{"automatic", b.steadySide(paymentBody, "captured")},
		side{"manual", b.steadySide(hold, "authorized")},
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
	r := Row{ID: "P9", What: what, Unit: "ms", Reach: 10, AtMost: true}
	r = r.of(values(samples, func(s sample) float64 { return 1000 * byP99(s) }))
	r.Absolute = fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", 1000*middle(samples, byP50), r.Value)
	return r
}

// steadySide posts at the steady rate to a server with an empty store. Each payment must end in
// status.
func (b *Bench) steadySide(body, status string) func(context.Context) (sample, error) {
	return b.freshSide(func(s *serve.Standalone) load.Plan {
		return load.Plan{
			Addr: s.Addr, Conns: conns, Rate: steady, Request: mustPost(s.Addr, s.Key, body), Fill: b.freshKey,
			Want: load.Want{Status: 201, Contains: []byte(`"status":"` + status + `"`)},
		}
	})
}
