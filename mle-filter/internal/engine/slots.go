package engine

import (
	"errors"
	"math"
	"time"

	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/turns"
)

var (
	// errBusy is the error of a decryption that got no slot because of other clients.
	errBusy = errors.New("mle: no decryption slot became free in time")
	// errOwn is the error of a decryption that got no slot because of its client's other ones.
	errOwn = errors.New("mle: too many decryptions of the client are running or waiting")
)

// client is a client whose decryptions take turns: the secret keys of a merchant, or a payer.
type client struct {
	name   string // the merchant, or the payer's address
	public bool   // a publishable key
}

// newSlots returns the slots of the private operations with keys of one alg. Each alg has separate
// slots, so cheap operations do not wait for expensive ones. Clients with waiting operations take
// turns, secret keys first. The number of waiting operations is bounded by the filter's concurrent
// requests.
func newSlots(n int, queue time.Duration) *turns.Turns[client] {
	return turns.New(turns.Bounds[client]{
		Slots: n, Share: n, Wait: queue, Queue: math.MaxInt, Queues: math.MaxInt, TooMany: errOwn, Busy: errBusy,
		Later: func(c client) bool { return c.public },
	})
}

// client returns the client of a request with a known merchant. Every payer can read the
// publishable keys of all merchants, so their client is the payer's address. It is the merchant if
// the address is unknown.
func (x *Exchange) client() client {
	c := client{name: x.merchant, public: x.publishable()}
	if c.public && x.head.ClientAddress != "" {
		c.name = admission.ClientOf(x.head.ClientAddress)
	}
	return c
}
