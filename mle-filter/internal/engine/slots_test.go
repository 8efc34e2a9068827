package engine_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// sender is the sender of an encrypted request.
type sender struct{ merchant, key, address string }

// TestTurnsOfDecryptions checks that the RSA operation of a client waits for few operations of
// others, however many of these are queued.
func TestTurnsOfDecryptions(t *testing.T) {
	t.Parallel()
	const secretKey, publicKey, address = "sk_test_1", "pk_test_1", "203.0.113.7"
	merchant := func(i int) string { return fmt.Sprintf("mer_1%012d", i) }
	for name, c := range map[string]struct {
		others func(i int) sender
		last   sender
	}{
		"a secret key after its merchant's publishable keys": {
			func(int) sender { return sender{enginetest.Merchant, publicKey, ""} },
			sender{enginetest.Merchant, secretKey, ""},
		},
		"a payer after another with many merchants' keys": {
			func(i int) sender { return sender{merchant(i), publicKey, address} },
			sender{enginetest.Merchant, publicKey, "203.0.113.8"},
		},
		"a payer after another with many IPv6 addresses": {
			func(i int) sender { return sender{merchant(i), publicKey, fmt.Sprintf("2001:db8::%x", i+1)} },
			sender{enginetest.Merchant, publicKey, "2001:db8:0:1::1"},
		},
		"a payer after another of the same merchant": {
			func(int) sender { return sender{enginetest.Merchant, publicKey, address} },
			sender{enginetest.Merchant, publicKey, "203.0.113.8"},
		},
		"a payer after one secret key": {
			func(int) sender { return sender{enginetest.Other, secretKey, address} },
			sender{enginetest.Merchant, publicKey, address},
		},
		"a secret key after many payers": {
			func(i int) sender { return sender{merchant(i), publicKey, fmt.Sprintf("198.51.100.%d", i)} },
			sender{enginetest.Merchant, secretKey, address},
		},
		"payers without addresses": {
			func(int) sender { return sender{enginetest.Other, publicKey, ""} },
			sender{enginetest.Merchant, publicKey, ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRush(t)
			r.sends(t, 64, c.others)
			r.sends(t, 1, func(int) sender { return c.last })
			if before := r.before(c.last); before > 8 { // at most two, and some whose order on the channel is random
				t.Errorf("an operation waited for %d of others", before)
			}
		})
	}
}

// rush is requests that wait for the one slot for RSA, which is taken until before.
type rush struct {
	world  *enginetest.World
	engine *engine.Engine
	token  []byte
	give   func()
	sent   int
	ended  chan sender
	all    sync.WaitGroup
}

func newRush(t *testing.T) *rush {
	t.Helper()
	w := enginetest.NewWorld(t)
	w.Config.Settings = engine.Settings{Concurrency: 1, Queue: time.Hour}
	e := w.Engine(t)
	return &rush{
		world: w, engine: e, token: []byte(enginetest.Forge{Key: w.RSA}.Encrypt(t, "{}")),
		give: e.TakeSlot(engine.RSAOAEP256), ended: make(chan sender, 256),
	}
}

// sends sends n requests, and returns when they wait for the slot.
func (r *rush) sends(t *testing.T, n int, of func(i int) sender) {
	t.Helper()
	for i := range n {
		from := of(i)
		r.world.Ring.Add(from.merchant, r.world.RSA)
		x, p := r.engine.Begin(t.Context(), engine.RequestHead{
			Method: "POST", Path: enginetest.Path, Body: true, Length: -1, ClientAddress: from.address, Fields: http.Header{
				"Content-Type": {"application/jose"}, "X-Svc-Mle": {"v1"}, "Authorization": {"Bearer " + from.key},
			},
		}, enginetest.Call(from.merchant))
		if p != nil {
			t.Fatal(p.Reason)
		}
		r.all.Go(func() {
			if _, p := x.Unwrap(t.Context(), r.token); p != nil {
				t.Errorf("%+v: got %+v", from, p)
			}
			r.ended <- from
		})
	}
	r.sent += n
	r.engine.AwaitWaiting(engine.RSAOAEP256, r.sent)
}

// before returns the number of requests that end before the one of a sender.
func (r *rush) before(last sender) (n int) {
	r.give()
	r.all.Wait()
	close(r.ended)
	for from := range r.ended {
		if from == last {
			break
		}
		n++
	}
	return n
}

// TestClientBehindItself checks that a client that waits behind its own operation gets 429. It
// could otherwise make responses that count as faults of the service.
func TestClientBehindItself(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	w.Config.Settings = engine.Settings{Concurrency: 1, Queue: time.Millisecond}
	e := w.Engine(t)
	x := mustNeedBody(t, e)
	defer e.TakeSlotAs(x, engine.RSAOAEP256)()
	_, p := x.Unwrap(t.Context(), []byte(enginetest.Forge{Key: w.RSA}.Encrypt(t, "{}")))
	if p == nil || p.Status != 429 || p.Code != v1.CodeRateLimited || p.Type != v1.ErrorTypeRateLimitError ||
		p.Reason != engine.ReasonOwn || p.RetryAfter != 1 {
		t.Errorf("got %+v, want 429 with Retry-After", p)
	}
}
