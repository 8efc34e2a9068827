package providerb

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

const (
	deliveredFor   = 2 * time.Minute
	deliveredLimit = 1 << 14
)

// delivered remembers for two minutes after its first use how many answers to equal logins have reached their client. Two requests that are
// equal to the byte and were signed in the same second cannot be told apart otherwise: what comes after a delivered answer is a new request,
// what comes after one that never arrived is the same again. What is forgotten, or was never known here, counts as not delivered, so that
// nothing is charged twice.
type delivered struct {
	clock clock.Clock

	mu sync.Mutex
	// What was last put down is in young until that is full; then it is old, and what was old is forgotten.
	young, old map[evidenceHash]delivery // guarded by mu
}

func newDelivered(c clock.Clock) *delivered {
	return &delivered{clock: c, young: map[evidenceHash]delivery{}, old: map[evidenceHash]delivery{}}
}

// evidenceHash stands for what a caller logged in with.
type evidenceHash [sha256.Size]byte

func hashOf(evidence string) evidenceHash { return sha256.Sum256([]byte(evidence)) }

type delivery struct {
	n     int
	until time.Time
}

// before returns how many answers to the evidence have arrived.
func (d *delivered) before(evidence string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, _ := d.known(hashOf(evidence))
	return e.n
}

// begin counts from now on: something was done under the evidence, which was first used then. Nothing else begins a count, so a recorded
// request that is sent when the two minutes are over has the first one's answer for good, a refusal too.
func (d *delivered) begin(evidence string, used time.Time) {
	key, until := hashOf(evidence), used.Add(deliveredFor)
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.known(key); !known && d.clock.Now().Before(until) {
		d.put(key, delivery{until: until})
	}
}

// add counts one more after n, where there is a count. Of two answers to the same request only the first counts: the second was a repetition.
func (d *delivered) add(evidence string, n int) {
	key := hashOf(evidence)
	d.mu.Lock()
	defer d.mu.Unlock()
	if e, known := d.known(key); known && e.n == n {
		d.put(key, delivery{n: n + 1, until: e.until})
	}
}

// put writes down. The caller holds mu.
func (d *delivered) put(key evidenceHash, e delivery) {
	if len(d.young) >= deliveredLimit/2 {
		d.young, d.old = d.old, d.young
		clear(d.young)
	}
	d.young[key] = e
}

// known is the count that is remembered. The caller holds mu.
func (d *delivered) known(key evidenceHash) (delivery, bool) {
	e, young := d.young[key]
	if !young {
		e = d.old[key]
	}
	if !d.clock.Now().Before(e.until) {
		return delivery{}, false
	}
	return e, true
}
