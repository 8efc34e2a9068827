package attempts

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxEntries bounds how many addresses, logins or pairs a ledger holds.
const maxEntries = 1 << 16

// allowance is how many refusals are allowed at once, and how long it takes until one more is.
type allowance struct {
	burst int
	every time.Duration
}

// ledger counts refusals by name. It keeps for each name the time at which all of its refusals are
// forgotten.
type ledger struct {
	allowance

	mu      sync.Mutex
	forgets map[[sha256.Size]byte]int64 // guarded by mu: nanoseconds since 1970
}

func newLedger(a allowance) *ledger {
	return &ledger{allowance: a, forgets: map[[sha256.Size]byte]int64{}}
}

// spent reports whether the name's allowance is spent.
func (l *ledger) spent(name string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.forgets[sha256.Sum256([]byte(name))]-now.UnixNano() > int64(l.burst-1)*int64(l.every)
}

// charge counts one refusal. An allowance that is spent stays so for as long as one refusal takes
// to be forgotten, however many come.
func (l *ledger) charge(name string, now time.Time) {
	key, at := sha256.Sum256([]byte(name)), now.UnixNano()
	l.mu.Lock()
	defer l.mu.Unlock()
	forgets, known := l.forgets[key]
	if !known && len(l.forgets) >= maxEntries {
		l.makeRoom(at)
	}
	l.forgets[key] = min(max(forgets, at)+int64(l.every), at+int64(l.burst)*int64(l.every))
}

// makeRoom removes the names that have nothing left to be forgotten, among 64, and one of the
// others if there is none. The caller holds mu.
func (l *ledger) makeRoom(at int64) {
	looked := 0
	for key, forgets := range l.forgets {
		if looked++; looked > 64 {
			break
		}
		if forgets <= at || looked == 64 {
			delete(l.forgets, key)
		}
	}
}
