package command

import (
	"context"
	"maps"
	"sync"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// nonceKey is the entry of metadata that makes a request differ from all that are equal to it.
const nonceKey = "nonce"

// apartTries is how many keys of a chain are tried before a random one: the payment matters more
// than that later requests find it.
const apartTries = 8

// apart runs do for a request without a window, under the chain's next key, so that later requests
// can be its duplicates. Its nonce makes v1 refuse it a key that another request has, and never its
// own. So of two equal requests neither is a duplicate, and a retry after a lost response is one.
func (s session) apart(ctx context.Context, in chain, do func(session) Result) Result {
	s.nonce = s.x.cfg.NewKey()
	for range apartTries {
		n := s.x.chainEnds.take(in)
		s.idempotencyKey = in.key(n)
		r := do(s)
		if r.Code != CodeKeyReused {
			if r.Outcome != Done && r.Outcome != Declined {
				s.giveBack(ctx, in, n, r)
			}
			return r
		}
		closed, failed := s.skip(ctx, in, n)
		if failed != nil {
			break
		}
		if closed {
			in = in.next()
		}
	}
	s.idempotencyKey = s.x.cfg.NewKey()
	return do(s)
}

// giveBack leaves the nth key of a chain to the next request, because r may have left it without a
// use. If another request took a later key meanwhile, giveBack reserves the nth as skipped: a walk
// along the chain would end at a free key, and not find the later one. V1 keeps the key if it is in
// use after all.
func (s session) giveBack(ctx context.Context, in chain, n int, r Result) {
	if s.x.chainEnds.giveBack(in, n) {
		if r.released() {
			s.vacate(ctx, in, n)
		}
		return
	}
	if _, failed := s.reserve(ctx, in.key(n), skippedPurpose); failed != nil {
		s.x.chainEnds.lower(in, n) // the next request fills the gap
	}
}

// skip skips the keys of a chain that are in use, from the nth on. It reports true if the chain is
// closed.
func (s session) skip(ctx context.Context, in chain, n int) (bool, *Result) {
	u, failed := s.peek(ctx, in.key(n))
	if failed == nil {
		u, failed = s.identify(ctx, in.key(n), u, closedPurpose)
	}
	if failed != nil || u.closes() {
		return failed == nil, failed
	}
	end := &chainEnd{chain: in, n: n}
	if !u.blind { // it would find none
		_, failed = s.walk(ctx, end)
	}
	s.x.chainEnds.skip(in, end.n)
	return end.closed, failed
}

// marked is m with the session's nonce, if it has one. The map itself is the command's, and stays as it is.
func (s session) marked(m *v1.Metadata) *v1.Metadata {
	if s.nonce == "" {
		return m
	}
	out := v1.Metadata{}
	if m != nil {
		maps.Copy(out, *m)
	}
	out[nonceKey] = s.nonce
	return &out
}

// maxChains bounds how many chains are remembered.
const maxChains = 1024

// chainEnds remembers for each chain the next key that no request of this process took, so that
// concurrent requests without a window begin at keys of their own. It may forget, and ignores other
// proxies: v1 decides which keys are in use, and this only saves calls.
type chainEnds struct {
	mu   sync.Mutex
	next map[chain]int // guarded by mu
}

// take returns the number of a key that no other request of this process has.
func (e *chainEnds) take(in chain) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.next[in]; !known {
		for victim := range e.next {
			if len(e.next) < maxChains {
				break
			}
			delete(e.next, victim)
		}
	}
	n := e.next[in]
	e.next[in] = n + 1
	return n
}

// giveBack makes the nth key the next one if no later key was taken. Else it returns false.
func (e *chainEnds) giveBack(in chain, n int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.next[in] != n+1 {
		return false
	}
	e.next[in] = n
	return true
}

// lower makes the nth key the next one, although later keys were taken.
func (e *chainEnds) lower(in chain, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next[in] = min(e.next[in], n)
}

// skip records that all keys up to the nth are in use.
func (e *chainEnds) skip(in chain, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next[in] = max(e.next[in], n+1)
}
