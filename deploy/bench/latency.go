package bench

import (
	"context"

	"github.com/causeway-pay/causeway/deploy/bench/bare"
)

// latency gives P3: what a lone client waits for a payment, against one commit of everything the payment leaves behind.
func latency(ctx context.Context, b *Bench) ([]Row, error) {
	template, err := b.learn(ctx)
	if err != nil {
		return nil, err
	}
	got, err := b.interleave(
		ctx,
		side{"causeway", b.paySide(1)},
		side{"bare commit", func(ctx context.Context, _ int) (sample, error) {
			return b.bareSide(ctx, template, 1, (*bare.Loop).Single)
		}},
	)
	if err != nil {
		return nil, err
	}
	r := Row{ID: "P3", What: "p50 of the POST, 1 client ÷ p50 of one commit of its rows", Reach: 2.6, AtMost: true}
	r.ratio(got[0], got[1], byP50)
	r.Absolute = milliseconds(got[0], got[1], byP50)
	return []Row{r}, nil
}
