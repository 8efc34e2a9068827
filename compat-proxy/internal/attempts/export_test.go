package attempts

import "time"

// Ledger counts refusals.
type Ledger struct{ *ledger }

// NewLedger returns one that has counted none.
func NewLedger(burst int, every time.Duration) Ledger {
	return Ledger{newLedger(allowance{burst, burst, every})}
}

// Charge counts one refusal.
func (l Ledger) Charge(name string, now time.Duration) { l.charge(name, now) }

// Spent reports whether the allowance is spent.
func (l Ledger) Spent(name string, now time.Duration) bool { return l.exhausted(name, now) }

// Held returns how many names are kept.
func (l Ledger) Held() int { l.mu.Lock(); defer l.mu.Unlock(); return len(l.expires) }

// Trying returns the number of pairs of a login and an address with an attempt that is being
// judged.
func (l *Limiter) Trying() int {
	l.pairs.mu.Lock()
	defer l.pairs.mu.Unlock()
	return len(l.pairs.reserved)
}
