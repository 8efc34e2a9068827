package engine

import (
	"errors"
	"math"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/turns"
)

// errBusy is the error of a decryption without a slot.
var errBusy = errors.New("mle: no decryption slot became free in time")

// newSlots returns the slots of the private operations with keys of one alg. Each alg has separate
// slots, so cheap operations do not wait for expensive ones. Clients with waiting operations take
// turns. The requests that the filter serves at the same time bound the waiting operations.
func newSlots(n int, patience time.Duration) *turns.Turns[string] {
	return turns.New(turns.Bounds[string]{
		Slots: n, Share: n, Wait: patience, Queue: math.MaxInt, Queues: math.MaxInt, TooMany: errBusy, Busy: errBusy,
	})
}

// client returns the client of a request with a known merchant. The publishable keys of a merchant,
// which every payer can read, count as another client than its secret keys.
func (x *Exchange) client() string {
	for _, value := range x.head.Fields.Values("authorization") {
		if _, key, _ := strings.Cut(value, " "); strings.HasPrefix(strings.TrimSpace(key), "pk_") {
			return x.merchant + " pk"
		}
	}
	return x.merchant
}
