package bench

import (
	"context"

	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// replayed is the number of payments that P7 repeats and reads.
const replayed = 300

// replay measures P7: repeated requests against reads of the same objects, both on one server.
func replay(ctx context.Context, b *Bench) (rows []Row, err error) {
	err = b.withServer(ctx, func(s *serve.Standalone) error {
		made, err := b.payOnce(ctx, s.Addr, s.Key, replayed)
		if err != nil {
			return err
		}
		again := b.payments(s.Addr, s.Key, conns)
		again.Want = created(true)
		again.Fill = func(slot []byte, n uint64) { copy(slot, made[n%replayed].key) }
		headers := []string{"Authorization: Bearer " + s.Key}
		get, err := load.NewRequest("GET", s.Addr, "/v1/transactions/txn_{slot}", headers, "", idWidth)
		if err != nil {
			return err
		}
		read := load.Plan{
			Addr: s.Addr, Conns: conns, Request: get, Want: load.Want{Status: 200, Contains: again.Want.Contains},
			Fill: func(slot []byte, n uint64) { copy(slot, made[n%replayed].id) },
		}
		got, err := b.interleave(
			ctx,
			side{"replay", func(ctx context.Context) (sample, error) { return b.load(ctx, again) }},
			side{"get", func(ctx context.Context) (sample, error) { return b.load(ctx, read) }},
		)
		if err != nil {
			return err
		}
		rows = []Row{ratesRow("P7", "replayed POST ÷ GET by id, 64 clients", 0.9, got[0], got[1])}
		return nil
	})
	return rows, err
}
