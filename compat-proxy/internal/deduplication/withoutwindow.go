package deduplication

import (
	"context"
	"sync"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// NonceKey is the metadata entry that makes a request differ from all equal requests.
const NonceKey = "nonce"

// chainTries is how many keys of a chain are tried before a random key. A later request then does
// not find this one, but the payment matters more.
const chainTries = 8

// runWithoutWindow runs do for a request without a window, under the chain's next key, so that
// later requests can be its duplicates. The nonce makes v1 refuse a key that another request has,
// and accept the request's own. So equal requests are not duplicates, but a retry after a lost
// response is.
func (s Request) runWithoutWindow(ctx context.Context, in chain, do func(Request) command.Result) command.Result {
	s.Nonce = s.d.cfg.NewKey()
	n := s.d.ends.takeKey(in)
	for range chainTries {
		s.IdempotencyKey = in.key(n)
		r := do(s)
		if r.Code != v1.CodeKeyReused {
			s.repairChain(ctx, in, n, r)
			return r
		}
		s.d.ends.markPassed(in, n)
		seen, closed, failed := s.skipUsed(ctx, in, n)
		switch {
		case seen.MayActLate(r):
			return command.KeyInUse()
		case failed != nil:
			s.IdempotencyKey = s.d.cfg.NewKey()
			return do(s)
		case !seen.Found: // v1 freed the key meanwhile
			s.d.ends.unmarkPassed(in, n)
			continue
		case closed:
			in = in.next()
		}
		n = s.d.ends.takeKey(in)
	}
	s.IdempotencyKey = s.d.cfg.NewKey()
	return do(s)
}

// repairChain closes the gap that a request under the chain's nth key may leave. r is the request's
// result.
func (s Request) repairChain(ctx context.Context, in chain, n int, r command.Result) {
	if r.Outcome != command.Done && r.Outcome != command.Declined {
		s.releaseKey(ctx, in, n, r)
	}
	if s.d.ends.passed(in, n-1) {
		s.fillGap(ctx, in, n-1)
	}
}

// fillGap reserves the nth key of a chain as skipped, and then the free keys before it, back to a
// key in use. It returns the number of that key, and its use if it was read.
//
// Let request A run under key n while request B takes key n+1. Afterwards B fills key n. If v1
// frees key n, A looks at key n+1 (skipFreed). At least one of the two reads comes after both
// events, so the freed key does not stay a gap.
func (s Request) fillGap(ctx context.Context, in chain, n int) (int, Use) {
	for ; n >= 0; n-- {
		u, failed := s.ReadKey(ctx, in.key(n))
		if failed == nil && u.Found {
			return n, u
		}
		held := false
		if failed == nil {
			held, failed = s.Reserve(ctx, in.key(n), SkippedPurpose)
		}
		switch {
		case failed != nil:
			s.d.ends.lowerNext(in, n) // the next request fills the gap
			return n, Use{}
		case !held:
			n++ // another request took the key since then: read it again
		}
	}
	return n, Use{}
}

// releaseKey leaves the nth key of a chain to the next request, because r may have left it unused.
// If another request took a later key meanwhile, releaseKey reserves the nth as skipped. A walk
// along the chain would otherwise end at the free key and miss the later one. V1 keeps the key if
// it is in use after all.
func (s Request) releaseKey(ctx context.Context, in chain, n int, r command.Result) {
	if s.d.ends.releaseKey(in, n) {
		if released(r) {
			s.skipFreed(ctx, in, n)
		}
		return
	}
	s.d.ends.markPassed(in, n) // another process may have the key by now, and v1 may free it again
	held, failed := s.Reserve(ctx, in.key(n), SkippedPurpose)
	switch {
	case failed != nil:
		s.d.ends.lowerNext(in, n) // the next request fills the gap
	case held:
		s.d.ends.unmarkPassed(in, n)
	}
}

// skipUsed skips the keys of a chain that are in use, from the nth on, and returns the nth's use.
// It reports true if the chain is closed. It skips nothing if the nth is free.
func (s Request) skipUsed(ctx context.Context, in chain, n int) (seen Use, closed bool, failed *command.Result) {
	seen, failed = s.ReadKey(ctx, in.key(n))
	if failed == nil {
		seen, failed = s.identify(ctx, in.key(n), seen, closedPurpose)
	}
	if failed != nil || !seen.Found || seen.closes() {
		return seen, failed == nil && seen.closes(), failed
	}
	end, last := &chainEnd{chain: in, n: n}, seen
	if seen.Denied == nil { // a walk would find nothing
		var found Use
		if found, failed = s.walk(ctx, end); end.n > n {
			last = found
		}
	}
	if end.n > n && last.Running {
		if failed = s.keepEnd(ctx, end); failed != nil {
			return seen, false, failed
		}
	}
	s.d.ends.skipTo(in, end.n, last.Running || last.Denied != nil)
	return seen, end.closed, failed
}

// keepEnd reserves the last key of a chain if v1 has freed it. While its request still has it, v1
// refuses the reservation. If a request closed the chain meanwhile, with that key or one before it,
// the end moves back to the key before.
func (s Request) keepEnd(ctx context.Context, end *chainEnd) *command.Result {
	for last := end.n; ; {
		held, failed := s.Reserve(ctx, end.key(last), SkippedPurpose)
		if failed != nil {
			return failed
		}
		u := Use{}
		if held {
			last, u = s.fillGap(ctx, end.chain, last-1)
		} else if u, failed = s.ReadKey(ctx, end.key(last)); failed != nil {
			return failed
		}
		if u.closes() {
			end.n, end.closed = last-1, true
		}
		if held || u.Found {
			return nil
		}
	}
}

// Marked returns a copy of m with the request's nonce, or m itself without a nonce.
func (s Request) Marked(m *v1.Metadata) *v1.Metadata {
	if s.Nonce == "" {
		return m
	}
	return v1.WithEntry(m, NonceKey, s.Nonce)
}

// maxChains is the largest number of remembered chains.
const maxChains = 1024

// chainEnds remembers for each chain the next key that no request of this process took. Concurrent
// requests without a window therefore begin at different keys. It may forget, and ignores other
// proxies: v1 decides which keys are in use, and this only saves calls.
type chainEnds struct {
	mu   sync.Mutex
	ends map[chain]*takenKeys // guarded by mu
}

// takenKeys are the keys of a chain that requests of this process took.
type takenKeys struct {
	next   int          // the number of the next key
	passed map[int]bool // keys below next that another request had, and that v1 may still free
}

// keysOf returns the keys of a chain. The caller holds e.mu.
func (e *chainEnds) keysOf(in chain) *takenKeys {
	if k := e.ends[in]; k != nil {
		return k
	}
	for victim := range e.ends {
		if len(e.ends) < maxChains {
			break
		}
		delete(e.ends, victim)
	}
	k := &takenKeys{passed: map[int]bool{}}
	e.ends[in] = k
	return k
}

// takeKey returns the number of a key that no other request of this process has.
func (e *chainEnds) takeKey(in chain) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := e.keysOf(in)
	k.next++
	return k.next - 1
}

// releaseKey makes the nth key the next one if no later key was taken. Else it returns false.
func (e *chainEnds) releaseKey(in chain, n int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := e.keysOf(in)
	if k.next != n+1 {
		return false
	}
	k.next = n
	return true
}

// lowerNext makes the nth key the next one, although later keys were taken.
func (e *chainEnds) lowerNext(in chain, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := e.keysOf(in)
	k.next = min(k.next, n)
}

// skipTo records that all keys up to the nth are in use, and whether v1 may still free the nth.
func (e *chainEnds) skipTo(in chain, n int, running bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := e.keysOf(in)
	k.next = max(k.next, n+1)
	if running {
		k.passed[n] = true
	} else {
		delete(k.passed, n)
	}
}

// markPassed records that another request has the nth key. Call it before reading that key: a
// request of this process that took the next key meanwhile relies on this one to fill it.
func (e *chainEnds) markPassed(in chain, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keysOf(in).passed[n] = true
}

// unmarkPassed records that a request of this process has the nth key after all.
func (e *chainEnds) unmarkPassed(in chain, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.keysOf(in).passed, n)
}

// passed reports whether another request had the nth key, and v1 may have freed it since.
func (e *chainEnds) passed(in chain, n int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.keysOf(in).passed[n]
}
