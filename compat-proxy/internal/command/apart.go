package command

import (
	"context"
	"maps"
	"slices"
	"sync"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// nonceKey is the entry of metadata that makes a request another one than all that are equal to it.
const nonceKey = "nonce"

// apartTries is how many keys of a chain are tried before one that nobody else has is taken: the payment matters more than that it is seen.
const apartTries = 8

// apart runs do for a request without a window, under the chain's next key, so that later requests
// can be its duplicates. Its nonce makes v1 refuse it a key that another request has, and never its
// own. So of two equal requests neither is a duplicate, and a retry after a lost response is one.
func (s session) apart(ctx context.Context, in chain, do func(session) Result) Result {
	s.nonce = s.x.cfg.NewKey()
	for range apartTries {
		n := s.x.places.take(in)
		s.idempotencyKey = in.key(n)
		r := do(s)
		if r.Code != CodeKeyReused {
			if r.Outcome != Done && r.Outcome != Declined {
				s.x.places.giveBack(in, n) // nothing may have come of it; who takes it next will see
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

// skip skips the keys of a chain that are in use, from the nth on. It reports true if the chain is
// closed.
func (s session) skip(ctx context.Context, in chain, n int) (bool, *Result) {
	u, failed := s.peek(ctx, in.key(n))
	if failed != nil {
		return false, failed
	}
	if closed, failed := s.isClosed(ctx, in.key(n), u); closed || failed != nil {
		return closed, failed
	}
	end := &chainEnd{chain: in, n: n}
	if !u.blind { // it would find none
		_, failed = s.walk(ctx, end)
	}
	s.x.places.skip(in, end.n)
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

// maxRows bounds how many chains are remembered.
const maxRows = 1024

// places remembers where the chains end that requests were made apart in, so that each begins at a key of its own. It may forget, and know
// nothing of other proxies: v1 tells which keys are in use, and this only saves asking.
type places struct {
	mu   sync.Mutex
	rows map[chain]*row // guarded by mu
}

type row struct {
	next int   // the first place that was never taken
	free []int // those given back, the lowest first
}

// take returns a place that nobody here has. The lowest goes first: a walk along the chain ends where one is free.
func (p *places) take(in chain) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, known := p.rows[in]
	if !known {
		for victim := range p.rows {
			if len(p.rows) < maxRows {
				break
			}
			delete(p.rows, victim)
		}
		r = &row{}
		p.rows[in] = r
	}
	if len(r.free) > 0 {
		n := r.free[0]
		r.free = r.free[1:]
		return n
	}
	r.next++
	return r.next - 1
}

// giveBack lets somebody else have a place.
func (p *places) giveBack(in chain, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, known := p.rows[in]; known {
		at, _ := slices.BinarySearch(r.free, n)
		r.free = slices.Insert(r.free, at, n)
	}
}

// skip notes that all places up to n are in use.
func (p *places) skip(in chain, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, known := p.rows[in]; known {
		r.next = max(r.next, n+1)
		r.free = slices.DeleteFunc(r.free, func(free int) bool { return free <= n })
	}
}
