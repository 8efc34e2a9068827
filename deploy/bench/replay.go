package bench

import (
	"context"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// replayed is how many payments P7 repeats and reads.
const replayed = 300

// replay gives P7: repeated requests against reads of the same objects, both on one server.
func replay(ctx context.Context, b *Bench) (rows []Row, err error) {
	err = b.withServer(ctx, func(s *server) error {
		payments, err := b.payOnce(ctx, s, replayed)
		if err != nil {
			return err
		}
		get, err := load.NewRequest("GET", s.Addr, "/v1/transactions/txn_{slot}", []string{"Authorization: Bearer " + s.Key}, "", idWidth)
		if err != nil {
			return err
		}
		got, err := b.interleave(
			ctx,
			side{"replay", b.loadSide(s, s.post, created(true), func(slot []byte, n uint64) { copy(slot, payments[n%replayed].key) })},
			side{"get", b.loadSide(s, get, load.Want{Status: 200, Contains: created(false).Contains},
				func(slot []byte, n uint64) { copy(slot, payments[n%replayed].id) })},
		)
		if err != nil {
			return err
		}
		r := Row{ID: "P7", What: "replayed POST ÷ GET by id, 64 clients", Reach: 0.9}
		r.ratio(got[0], got[1], byRate)
		r.Absolute = perSecond(got[0], got[1])
		rows = []Row{r}
		return nil
	})
	return rows, err
}

func (b *Bench) loadSide(s *server, request *load.Request, want load.Want, fill func([]byte, uint64)) func(context.Context, int) (sample, error) {
	return func(ctx context.Context, _ int) (sample, error) {
		r, err := load.Run(ctx, load.Plan{
			Addr: s.Addr, Conns: conns, Request: request, Fill: fill, Want: want, Warmup: b.warmup(), For: b.Each, Clock: b.Clock,
		})
		if err != nil {
			return sample{}, err
		}
		return sampleOf(r), nil
	}
}
