package bench

import "github.com/causeway-pay/causeway/deploy/bench/load"

// replayed is the number of payments that P7 repeats and reads.
const replayed = 300

// replay measures P7: repeated requests against reads of the same objects, both on one server.
func replay(b *Bench) {
	s := b.server()
	made := b.payOnce(s.addr, s.key, replayed)
	again := b.payments(s.addr, s.key, conns)
	again.Want = created(true)
	again.Fill = func(slot []byte, n uint64) { copy(slot, made[n%replayed].key) }
	headers := []string{"Authorization: Bearer " + s.key}
	read := load.Plan{
		Addr: s.addr, Conns: conns, Want: load.Want{Status: 200, Contains: again.Want.Contains},
		Request: must(load.NewRequest("GET", s.addr, "/v1/transactions/txn_{slot}", headers, "", idWidth)),
		Fill:    func(slot []byte, n uint64) { copy(slot, made[n%replayed].id) },
	}
	got := b.interleave(
		side{"replay", func() sample { return b.load(again) }}, side{"get", func() sample { return b.load(read) }},
	)
	b.ratesRow("P7", "replayed POST ÷ GET by id, 64 clients", 0.9, got[0], got[1])
}
