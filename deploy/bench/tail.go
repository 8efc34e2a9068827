package bench

import (
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// steady is the rate of P9, in requests a second.
const steady = 1000

// tail measures P9: the time of the slowest of a hundred payments that come at a fixed rate.
func tail(b *Bench) {
	hold := strings.Replace(paymentBody, `"automatic"`, `"manual"`, 1)
	got := b.interleave(
		side{"automatic", b.steadySide(paymentBody, "captured")}, side{"manual", b.steadySide(hold, "authorized")},
	)
	for i, what := range []string{"captured immediately", "captured later"} {
		p50, p99 := 1000*middle(got[i], byP50), values(got[i], func(s sample) float64 { return 1000 * byP99(s) })
		b.add(Row{
			ID: "P9", What: "p99 of the POST at 1,000/s, " + what, Unit: "ms", Reach: 10, AtMost: true,
			Absolute: fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", p50, median(p99)),
		}, p99)
	}
}

// steadySide posts at the steady rate to a server with an empty store. Each payment must end in
// status.
func (b *Bench) steadySide(body, status string) func() sample {
	return func() sample {
		s := b.server()
		return b.load(load.Plan{
			Addr: s.addr, Conns: conns, Rate: steady, Request: newPost(s.addr, s.key, body), Fill: b.freshKey,
			Want: load.Want{Status: 201, Contains: []byte(`"status":"` + status + `"`)},
		})
	}
}
