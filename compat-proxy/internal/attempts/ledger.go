package attempts

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxEntries is the largest number of addresses, logins or pairs in a ledger.
const maxEntries = 1 << 16

// allowance bounds refusals: burst of them at first, then one for each interval every. most is the
// largest number of remembered refusals, at least burst. Each one beyond burst delays the next
// attempt.
type allowance struct {
	burst, most int
	every       time.Duration
}

// digest is the hash of a name or a guess, which are not kept themselves.
type digest [sha256.Size]byte

func digestOf(text string) digest { return sha256.Sum256([]byte(text)) }

// ledger counts refusals by name. For each name it keeps the time at which the last of its refusals
// is forgotten, and the guesses that are being judged. Its times are of the monotonic clock, so a
// wrong clock that is corrected blocks no name.
type ledger struct {
	allowance

	mu       sync.Mutex
	expires  map[digest]time.Duration  // guarded by mu
	reserved map[digest]map[digest]int // guarded by mu: how many attempts each guess of a name has
}

func newLedger(a allowance) *ledger {
	return &ledger{allowance: a, expires: map[digest]time.Duration{}, reserved: map[digest]map[digest]int{}}
}

// exhausted reports whether the name has no refusals left.
func (l *ledger) exhausted(name string, now time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.exceeds(digestOf(name), now, l.burst-1)
}

// exceeds reports whether more refusals of a name count than n. The caller holds mu.
func (l *ledger) exceeds(name digest, now time.Duration, n int) bool {
	return max(l.expires[name]-now, 0) > time.Duration(n)*l.every
}

// reserve reserves a refusal of the name for a guess, or shares the reservation that the guess has.
// It returns false if the name's refusals and its other reservations spend the allowance.
func (l *ledger) reserve(name string, guess digest, now time.Duration) bool {
	of := digestOf(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	others := len(l.reserved[of])
	if l.reserved[of][guess] > 0 {
		others--
	}
	if l.exceeds(of, now, l.burst-1-others) {
		return false
	}
	if l.reserved[of] == nil {
		l.reserved[of] = map[digest]int{}
	}
	l.reserved[of][guess]++
	return true
}

// release ends one use of a guess's reservation.
func (l *ledger) release(name string, guess digest) {
	of := digestOf(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reserved[of][guess]--; l.reserved[of][guess] > 0 {
		return
	}
	if delete(l.reserved[of], guess); len(l.reserved[of]) == 0 {
		delete(l.reserved, of)
	}
}

// charge counts one refusal. At the largest number of remembered refusals, further ones do not
// change it.
func (l *ledger) charge(name string, now time.Duration) {
	key := digestOf(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	expires, known := l.expires[key]
	if !known && len(l.expires) >= maxEntries {
		l.evict(now)
	}
	l.expires[key] = min(max(expires, now)+l.every, now+time.Duration(l.most)*l.every)
}

// evict checks up to 64 arbitrary names. It removes the ones without remembered refusals, and the
// 64th in any case. The caller holds mu.
func (l *ledger) evict(now time.Duration) {
	looked := 0
	for key, expires := range l.expires {
		if looked++; looked > 64 {
			break
		}
		if expires <= now || looked == 64 {
			delete(l.expires, key)
		}
	}
}
