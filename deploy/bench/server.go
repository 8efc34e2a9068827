package bench

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/bench/bare"
	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// paymentBody is the payment of every measure but P5.
const paymentBody = `{"amount":2000,"currency":"usd","payment_method":"card",` +
	`"card":{"number":"4111111111111111","exp_month":12,"exp_year":2032,"cvc":"900"},"reference":"order-1001",` +
	`"capture":"automatic"}`

// keyWidth is the length of our Idempotency-Keys. idWidth is the length of a v1 id after its
// prefix.
const (
	keyWidth = 32
	idWidth  = 13
)

// freshKey writes an Idempotency-Key that this run has not used.
func (b *Bench) freshKey(slot []byte, _ uint64) { bare.Scatter(slot, b.keys.Add(1)) }

// created returns the expected response to every payment.
func created(replayed bool) load.Want {
	return load.Want{Status: 201, Replayed: replayed, Contains: []byte(`"status":"captured"`)}
}

// payments returns the plan of n clients that post payments to v1 at addr, each with a fresh key.
func (b *Bench) payments(addr, key string, n int) load.Plan {
	request := newPost(addr, key, paymentBody)
	return load.Plan{Addr: addr, Conns: n, Request: request, Fill: b.freshKey, Want: created(false)}
}

// newPost returns the request of a payment, with a slot for the Idempotency-Key.
func newPost(addr, key, body string) *load.Request {
	headers := []string{"Authorization: Bearer " + key, "Content-Type: application/json", "Idempotency-Key: {slot}"}
	return must(load.NewRequest("POST", addr, "/v1/transactions", headers, body, keyWidth))
}

// payment is a payment that was made one by one.
type payment struct {
	key, id string // the id without prefix
}

// payOnce makes n payments one after the other.
func (b *Bench) payOnce(addr, key string, n int) []payment {
	out := make([]payment, 0, n)
	plan := b.payments(addr, key, 1)
	for range n {
		key := make([]byte, keyWidth)
		b.freshKey(key, 0)
		request := plan.Request.Bytes(func(slot []byte, _ uint64) { copy(slot, key) }, 0)
		id := must(create(b.ctx, addr, request, plan.Want))
		if len(id) != len("txn_")+idWidth {
			b.Fatalf("a created transaction has id %q", id)
		}
		out = append(out, payment{key: string(key), id: id[len("txn_"):]})
	}
	return out
}

// create sends a request that creates an object of v1, and returns the id of the object.
func create(ctx context.Context, addr string, request []byte, want load.Want) (id string, err error) {
	response, err := load.Send(ctx, addr, request)
	if err != nil {
		return "", err
	}
	if err := want.Check(response); err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(response.Body, &made); err != nil {
		return "", fmt.Errorf("%.300s: %w", response.Body, err)
	}
	return made.ID, nil
}

// slowCard is the number of the simulator's card whose approval takes 5 s.
const slowCard = "4000000000000077"

// learn returns the rows that the server writes for one payment. It makes the payment once a run.
func (b *Bench) learn() *bare.Template {
	if b.template == nil {
		b.within(func() {
			s := b.server()
			body := strings.Replace(paymentBody, "4111111111111111", slowCard, 1)
			request := newPost(s.addr, s.key, body).Bytes(b.freshKey, 0)
			b.template = must(bare.Learn(b.ctx, s.database, func() error {
				_, err := create(b.ctx, s.addr, request, created(false))
				return err
			}))
		})
	}
	return b.template
}
