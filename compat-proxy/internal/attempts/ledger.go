package attempts

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxEntries bounds how many addresses, logins or pairs a ledger holds.
const maxEntries = 1 << 16

// allowance bounds refusals: burst are allowed at once, and then one more each every. most is how
// many are remembered, at least burst: refusals beyond burst delay the next attempt.
type allowance struct {
	burst, most int
	every       time.Duration
}

// digest stands for a name or a guess: neither is kept.
type digest [sha256.Size]byte

func digestOf(text string) digest { return sha256.Sum256([]byte(text)) }

// ledger counts refusals by name. It keeps for each name the time at which all of its refusals are
// forgotten, and the guesses that are being judged.
type ledger struct {
	allowance

	mu      sync.Mutex
	forgets map[digest]int64          // guarded by mu: nanoseconds since 1970
	trying  map[digest]map[digest]int // guarded by mu: how many attempts each guess of a name has
}

func newLedger(a allowance) *ledger {
	return &ledger{allowance: a, forgets: map[digest]int64{}, trying: map[digest]map[digest]int{}}
}

// spent reports whether the name's allowance is spent.
func (l *ledger) spent(name string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.exceeds(digestOf(name), now, l.burst-1)
}

// exceeds reports whether more refusals of a name count than n. The caller holds mu.
func (l *ledger) exceeds(name digest, now time.Time, n int) bool {
	return max(l.forgets[name]-now.UnixNano(), 0) > int64(n)*int64(l.every)
}

// reserve reserves a refusal of the name for a guess, or shares the reservation that the guess has.
// It returns false if the name's refusals and its other reservations spend the allowance.
func (l *ledger) reserve(name string, guess digest, now time.Time) bool {
	of := digestOf(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	others := len(l.trying[of])
	if l.trying[of][guess] > 0 {
		others--
	}
	if l.exceeds(of, now, l.burst-1-others) {
		return false
	}
	if l.trying[of] == nil {
		l.trying[of] = map[digest]int{}
	}
	l.trying[of][guess]++
	return true
}

// giveBack ends one use of the reservation that a guess has.
func (l *ledger) giveBack(name string, guess digest) {
	of := digestOf(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.trying[of][guess]--; l.trying[of][guess] > 0 {
		return
	}
	if delete(l.trying[of], guess); len(l.trying[of]) == 0 {
		delete(l.trying, of)
	}
}

// charge counts one refusal. A name of which most are remembered stays so for as long as one
// refusal takes to be forgotten, however many come.
func (l *ledger) charge(name string, now time.Time) {
	key, at := digestOf(name), now.UnixNano()
	l.mu.Lock()
	defer l.mu.Unlock()
	forgets, known := l.forgets[key]
	if !known && len(l.forgets) >= maxEntries {
		l.makeRoom(at)
	}
	l.forgets[key] = min(max(forgets, at)+int64(l.every), at+int64(l.most)*int64(l.every))
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
