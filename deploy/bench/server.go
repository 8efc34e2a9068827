package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/bench/bare"
	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// paymentBody is the payment of every measure.
const paymentBody = `{"amount":2000,"currency":"usd","payment_method":"card","card":{"number":"4111111111111111","exp_month":12,` +
	`"exp_year":2032,"cvc":"900"},"reference":"order-1001","capture":"automatic"}`

// keyWidth is the length of our Idempotency-Keys, idWidth that of v1 ids behind their prefix.
const (
	keyWidth = 32
	idWidth  = 13
)

// server is our server with an empty store of its own.
type server struct {
	*serve.Standalone
	data string
	post *load.Request // the payment, with a slot for the Idempotency-Key
	hold *load.Request // the same, only authorized
}

// startServer starts our server on the data folder.
func (b *Bench) startServer(ctx context.Context, data string) (*server, error) {
	s, err := serve.StartStandalone(ctx, b.programs.Standalone, data)
	if err != nil {
		return nil, err
	}
	headers := []string{"Authorization: Bearer " + s.Key, "Content-Type: application/json", "Idempotency-Key: {slot}"}
	post, err := load.NewRequest("POST", s.Addr, "/v1/transactions", headers, paymentBody, keyWidth)
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	hold, err := load.NewRequest("POST", s.Addr, "/v1/transactions", headers, holdBody, keyWidth)
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return &server{Standalone: s, data: data, post: post, hold: hold}, nil
}

// withServer gives fn a server with an empty store and removes both afterwards, so that no round inherits another one's rows.
func (b *Bench) withServer(ctx context.Context, fn func(*server) error) error {
	s, err := b.startServer(ctx, b.folder("data"))
	if err != nil {
		return err
	}
	if err := errors.Join(fn(s), s.Stop()); err != nil {
		return err // the folder stays for whoever wants to know why
	}
	return os.RemoveAll(s.data)
}

// freshKey writes an Idempotency-Key that this run has not used.
func (b *Bench) freshKey(slot []byte, _ uint64) { bare.Scatter(slot, b.keys.Add(1)) }

// created is what every answer to a payment has to be.
func created(replayed bool) load.Want {
	return load.Want{Status: 201, Replayed: replayed, Contains: []byte(`"status":"captured"`)}
}

// pay posts payments from n clients for d.
func (b *Bench) pay(ctx context.Context, s *server, n int, d time.Duration) (*load.Result, error) {
	return load.Run(ctx, load.Plan{
		Addr: s.Addr, Conns: n, Request: s.post, Fill: b.freshKey, Want: created(false), Warmup: b.warmup(), For: d, Clock: b.Clock,
	})
}

// payment is a payment that was made one by one.
type payment struct {
	key, id string // the id without prefix
}

// payOnce makes n payments one after the other.
func (b *Bench) payOnce(ctx context.Context, s *server, n int) ([]payment, error) {
	c, err := load.Dial(ctx, s.Addr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // all answers were read
	out := make([]payment, 0, n)
	var answer load.Response
	for range n {
		key := make([]byte, keyWidth)
		b.freshKey(key, 0)
		err := c.Do(s.post.Bytes(func(slot []byte, _ uint64) { copy(slot, key) }, 0), &answer)
		if err != nil {
			return nil, err
		}
		want := created(false)
		if err := want.Check(&answer); err != nil {
			return nil, err
		}
		var body struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(answer.Body, &body); err != nil || len(body.ID) != len("txn_")+idWidth {
			return nil, fmt.Errorf("a created transaction has id %q (%w)", body.ID, err)
		}
		out = append(out, payment{key: string(key), id: body.ID[len("txn_"):]})
	}
	return out, nil
}

// learn returns what the server writes for one payment, after proving that the bare loop writes the same. It does so once a run.
func (b *Bench) learn(ctx context.Context) (*bare.Template, error) {
	if b.template != nil {
		return b.template, nil
	}
	err := b.withServer(ctx, func(s *server) (err error) {
		if b.template, err = b.firstPayment(ctx, s); err != nil {
			return err
		}
		return bare.Check(ctx, b.dir, b.template)
	})
	return b.template, err
}

func sampleOf(r *load.Result) sample {
	return sample{rate: r.Rate(), p50: r.Percentile(50), p99: r.Percentile(99)}
}
