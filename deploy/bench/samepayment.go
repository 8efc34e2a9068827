package bench

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// uniqueMembers are the members in which equal transactions differ.
var uniqueMembers = []string{"id", "created_at", "updated_at", "reference", "authorization"}

// samePayment makes a legacy payment and the payment of v1 that it is measured against. It ends the
// scope unless core stores the same for both: the sides of P5 would have core do different work.
func (b *Bench) samePayment(p *proxies, d dialect) {
	want := b.madeBy(p, p.bare.addr, d.plainRequest(p))
	if got := b.madeBy(p, p.compat.addr, d.request(p, b.Clock.Now())); got != want {
		b.Fatalf("%s: core stores %s instead of %s", d.name, got, want)
	}
}

// madeBy sends r once to addr and returns the last transaction of core, without
// uniqueMembers.
func (b *Bench) madeBy(p *proxies, addr string, r *load.Request) string {
	sent := must(load.Send(b.ctx, addr, r.Bytes(b.freshKey, 0)))
	headers := []string{"Authorization: Bearer " + p.core.key}
	last := must(load.NewRequest("GET", p.core.addr, "/v1/transactions?limit=1", headers, "", 0))
	response := must(load.Send(b.ctx, p.core.addr, last.Bytes(nil, 0)))
	var list struct {
		Data []map[string]jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal(response.Body, &list); err != nil || len(list.Data) != 1 {
		b.Fatalf("no transaction was made. The response is %.300s (%w)", sent.Body, err)
	}
	for _, name := range uniqueMembers {
		delete(list.Data[0], name)
	}
	return string(must(json.Marshal(list.Data[0], json.Deterministic(true))))
}
