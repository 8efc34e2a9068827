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

// delivered remembers for two minutes how many answers to equal logins have reached their client. Two requests that are equal to the byte and
// were signed in the same second cannot be told apart otherwise: what comes after a delivered answer is a new request, what comes after one
// that never arrived is the same again. What is forgotten, or was never known here, counts as not delivered, so that nothing is charged twice.
type delivered struct {
	clock clock.Clock

	mu sync.Mutex
	// What was last counted is in young until that is full or has lasted; then it is old, and what was old is forgotten.
	young, old map[evidenceHash]delivery // guarded by mu
	begun      time.Time                 // of young, guarded by mu
}

func newDelivered(c clock.Clock) *delivered {
	return &delivered{clock: c, young: map[evidenceHash]delivery{}, old: map[evidenceHash]delivery{}}
}

// evidenceHash stands for what a caller logged in with.
type evidenceHash [sha256.Size]byte

type delivery struct {
	n     int
	until time.Time
}

// before returns how many answers to the evidence have arrived.
func (d *delivered) before(evidence string) int {
	key := evidenceHash(sha256.Sum256([]byte(evidence)))
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known(key, d.clock.Now())
}

// add counts one more after n. Of two answers to the same request only the first counts: the second was a repetition.
func (d *delivered) add(evidence string, n int) {
	key := evidenceHash(sha256.Sum256([]byte(evidence)))
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.clock.Now()
	if d.known(key, now) != n {
		return
	}
	if len(d.young) >= deliveredLimit/2 || now.Sub(d.begun) >= deliveredFor {
		d.young, d.old, d.begun = d.old, d.young, now
		clear(d.young)
	}
	d.young[key] = delivery{n: n + 1, until: now.Add(deliveredFor)}
}

// known is the count that is remembered. The caller holds mu.
func (d *delivered) known(key evidenceHash, now time.Time) int {
	e, young := d.young[key]
	if !young {
		e = d.old[key]
	}
	if !now.Before(e.until) {
		return 0
	}
	return e.n
}
