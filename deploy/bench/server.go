package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/bench/bare"
	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// paymentBody is the payment of every measure but P5.
const paymentBody = `{"amount":2000,"currency":"usd","payment_method":"card",` +
	`"card":{"number":"4111111111111111","exp_month":12,"exp_year":2032,"cvc":"900"},"reference":"order-1001",` +
	`"capture":"automatic"}`

// keyWidth is the length of our Idempotency-Keys, idWidth that of v1 ids behind their prefix.
const (
	keyWidth = 32
	idWidth  = 13
)

// withServer calls fn with a server that has an empty store, and removes both afterwards. So no
// round inherits rows of another one.
func (b *Bench) withServer(ctx context.Context, fn func(*serve.Standalone) error) error {
	s, err := b.programs.Standalone(ctx, b.folder("data"))
	if err != nil {
		return err
	}
	if err := errors.Join(fn(s), s.Stop()); err != nil {
		return err // the folder stays, to find the reason
	}
	return os.RemoveAll(s.Data)
}

// freshKey writes an Idempotency-Key that this run has not used.
func (b *Bench) freshKey(slot []byte, _ uint64) { bare.Scatter(slot, b.keys.Add(1)) }

// created is the expected response to every payment.
func created(replayed bool) load.Want {
	return load.Want{Status: 201, Replayed: replayed, Contains: []byte(`"status":"captured"`)}
}

// payments returns the plan of n clients that post payments to v1 at addr, each with a fresh key.
func (b *Bench) payments(addr, key string, n int) load.Plan {
	request := mustPost(addr, key, paymentBody)
	return load.Plan{Addr: addr, Conns: n, Request: request, Fill: b.freshKey, Want: created(false)}
}

// mustPost returns the request of a payment, with a slot for the Idempotency-Key.
func mustPost(addr, key, body string) *load.Request {
	headers := []string{"Authorization: Bearer " + key, "Content-Type: application/json", "Idempotency-Key: {slot}"}
	r, err := load.NewRequest("POST", addr, "/v1/transactions", headers, body, keyWidth)
	if err != nil {
		panic(err) // it has one slot
	}
	return r
}

// payment is a payment that was made one by one.
type payment struct {
	key, id string // the id without prefix
}

// payOnce makes n payments one after the other.
func (b *Bench) payOnce(ctx context.Context, addr, key string, n int) ([]payment, error) {
	out := make([]payment, 0, n)
	plan := b.payments(addr, key, 1)
	for range n {
		key := make([]byte, keyWidth)
		b.freshKey(key, 0)
		request := plan.Request.Bytes(func(slot []byte, _ uint64) { copy(slot, key) }, 0)
		id, err := create(ctx, addr, request, plan.Want)
		if err != nil {
			return nil, err
		}
		if len(id) != len("txn_")+idWidth {
			return nil, fmt.Errorf("a created transaction has id %q", id)
		}
		out = append(out, payment{key: string(key), id: id[len("txn_"):]})
	}
	return out, nil
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
func (b *Bench) learn(ctx context.Context) (*bare.Template, error) {
	if b.template != nil {
		return b.template, nil
	}
	err := b.withServer(ctx, func(s *serve.Standalone) (err error) {
		b.template, err = bare.Learn(ctx, s.Database, func() error {
			request := mustPost(s.Addr, s.Key, strings.Replace(paymentBody, "4111111111111111", slowCard, 1))
			_, err := create(ctx, s.Addr, request.Bytes(b.freshKey, 0), created(false))
			return err
		})
		return err
	})
	return b.template, err
}
