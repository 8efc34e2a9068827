package providera

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/clock"
)

// Planted are two hosts whose requests have fates, and the accounts of merchants at both. Its
// exported methods are for the tests that need a whole service.
type Planted struct {
	*fates

	t     *testing.T
	clock clock.Clock
	a     *host
	b     *hostB
	of    map[int64][]acquirer.Account // by merchant
	byID  map[int64]acquirer.Account
}

// NewPlanted starts the hosts.
func NewPlanted(t *testing.T, seed uint64, c clock.Clock) *Planted {
	t.Helper()
	p := &Planted{
		fates: newFates(seed), t: t, clock: c, b: startHostB(t),
		of: map[int64][]acquirer.Account{}, byID: map[int64]acquirer.Account{},
	}
	p.a, _ = startHost(t)
	p.attach(p.a, p.b)
	p.Tick()
	return p
}

// PlantedFates returns the figures that a long run must have.
func PlantedFates() (out []string) {
	for class := range declinesB {
		out = append(out, "declined: "+class)
	}
	for _, f := range append(slices.Clone(common()), proofs...) {
		out = append(out, fateAt("a", f), fateAt("b", f))
	}
	return out
}

// Counts returns the figures of the run.
func (p *Planted) Counts() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.counts)
}

// Calm lets all further requests pass.
func (p *Planted) Calm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calm = true
}

// Tick moves provider-a's clock to the clock of the service.
func (p *Planted) Tick() { p.a.do(func() { p.a.now = p.clock.Now() }) }

// Arrive makes the late requests arrive.
func (p *Planted) Arrive() {
	p.a.arrive()
	p.b.arrive()
}

// SettleAll settles all payments at provider-a.
func (p *Planted) SettleAll() { p.a.settle(2) }

// Settle settles a payment at provider-a: only then it can be refunded.
func (p *Planted) Settle(name string) {
	p.a.do(func() {
		for _, one := range p.a.made {
			if one.description == name && one.status == "capturedPendingSettlement" {
				one.status, one.batch = "settledSuccessfully", 1
			}
		}
	})
}

// ForPayment implements acquirer.Accounts.
func (p *Planted) ForPayment(
	_ context.Context, merchant int64, _ string, _ acquirer.Method,
) ([]acquirer.Account, error) {
	return p.of[merchant], nil
}

// Account implements acquirer.Accounts.
func (p *Planted) Account(_ context.Context, _, id int64) (acquirer.Account, error) {
	found, known := p.byID[id]
	if !known {
		return acquirer.Account{}, acquirer.ErrNoAccount
	}
	return found, nil
}

// nowhere is a URL at which nothing listens.
const nowhere = "http://127.0.0.1:1"

// AddMerchant adds the accounts of a merchant at the hosts, "a" and "b", in their order.
func (p *Planted) AddMerchant(merchant int64, hosts ...string) {
	p.t.Helper()
	gone := &host{url: nowhere}
	for i, h := range hosts {
		one := acquirer.Account{ID: int64(7001 + len(p.byID)), CapturesOnce: h == "a"}
		served := &plantedAccount{t: p.t, fates: p.fates, host: h}
		if i > 0 {
			served.after = hosts[0]
		}
		if h == "a" {
			c := p.a.connect(p.t, p.clock)
			served.Acquirer, served.gone, one.Reporter = c, gone.connect(p.t, p.clock), c
		} else {
			c := connectB(p.t, p.b.url, p.clock)
			served.Acquirer, served.gone, one.Reporter = c, connectB(p.t, nowhere, p.clock), c
		}
		one.Acquirer = served
		p.byID[one.ID] = one
		p.of[merchant] = append(p.of[merchant], one)
	}
}

// Charge is a payment in the records of a host or in the store.
type Charge struct {
	In     string // a, b or the id of the transaction
	Status string
	Money
}

// Money is the money of a payment. A payment that holds none has the zero Money.
type Money struct{ Authorized, Captured, Refunded int64 }

// Charges returns the payments in the records of both hosts, by their names.
func (p *Planted) Charges() map[string][]Charge {
	out := map[string][]Charge{}
	p.a.do(func() {
		for _, one := range p.a.made {
			if one.kind == typeRefund {
				continue
			}
			c := Charge{In: "a", Status: one.status}
			if one.status != "voided" {
				c.Money = Money{units(one.authorized), units(one.taken), p.a.refunded(one.id)}
			}
			if one.status == "authorizedPendingCapture" {
				c.Captured = 0
			}
			out[one.description] = append(out[one.description], c)
		}
	})
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	for _, one := range p.b.made {
		if one.group == "payments" {
			out[one.code] = append(out[one.code], p.b.charge(one))
		}
	}
	return out
}

// charge returns a payment. If it was captured or sold, a released rest changes nothing.
func (h *hostB) charge(r *recordB) Charge {
	c := Charge{In: "b", Status: fmt.Sprintf("sale %t voided %t released %t", r.sale, r.voided, r.released)}
	if r.sale && !r.voided {
		c.Captured, c.Refunded = r.amount, h.moved(r, "refunds")
	}
	for _, one := range h.made {
		if one.of == r && one.group == "captures" && !one.voided {
			c.Captured += one.amount
			c.Refunded += h.moved(one, "refunds")
		}
	}
	if c.Captured > 0 || !r.released {
		c.Authorized = r.amount
	}
	return c
}
