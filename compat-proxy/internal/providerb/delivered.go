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

	mu    sync.Mutex
	count map[[sha256.Size]byte]delivery // guarded by mu
}

func newDelivered(c clock.Clock) *delivered {
	return &delivered{clock: c, count: map[[sha256.Size]byte]delivery{}}
}

type delivery struct {
	n     int
	until time.Time
}

// before returns how many answers to the evidence have arrived.
func (d *delivered) before(evidence string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.count[sha256.Sum256([]byte(evidence))]
	if !d.clock.Now().Before(e.until) {
		return 0
	}
	return e.n
}

// add counts one more after n. Of two answers to the same request only the first counts: the second was a repetition.
func (d *delivered) add(evidence string, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, key := d.clock.Now(), sha256.Sum256([]byte(evidence))
	e, known := d.count[key]
	if !now.Before(e.until) {
		e.n = 0
	}
	if e.n != n {
		return
	}
	if !known && len(d.count) >= deliveredLimit && !d.sweep(now) {
		return
	}
	d.count[key] = delivery{n: n + 1, until: now.Add(deliveredFor)}
}

// sweep forgets what is old, and reports whether that made room. The caller holds mu.
func (d *delivered) sweep(now time.Time) bool {
	for key, e := range d.count {
		if !now.Before(e.until) {
			delete(d.count, key)
		}
	}
	return len(d.count) < deliveredLimit
}
