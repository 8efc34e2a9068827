package upstream

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// pool keeps idle connections by their address. It returns the one that was put last, so that the
// connections of a peak grow old and are closed.
type pool struct {
	limit int
	life  time.Duration
	clock clock.Clock

	mu      sync.Mutex
	kept    map[string][]*conn // guarded by mu; in the order they were put
	closing bool               // guarded by mu; since closeAll, until the next request
}

func newPool(limit int, life time.Duration, c clock.Clock) *pool {
	if c == nil {
		c = clock.System()
	}
	return &pool{limit: cmp.Or(limit, 256), life: cmp.Or(life, 90*time.Second), clock: c, kept: map[string][]*conn{}}
}

// take returns a connection to addr that is still alive, or nil.
func (p *pool) take(addr string) *conn {
	for {
		c := p.pop(addr)
		if c == nil {
			return nil
		}
		if p.clock.Now().Sub(c.idle) < p.life && c.alive() {
			return c
		}
		_ = c.Close() // an error of closing has no effect
	}
}

func (p *pool) pop(addr string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closing = false
	kept := p.kept[addr]
	if len(kept) == 0 {
		return nil
	}
	last := len(kept) - 1
	c := kept[last]
	kept[last] = nil
	p.kept[addr] = kept[:last]
	return c
}

// put keeps c for the next request to addr. It closes the oldest connection if there are too many,
// or if that one is too old.
func (p *pool) put(addr string, c *conn) {
	c.reused, c.idle = true, p.clock.Now()
	if surplus := p.add(addr, c); surplus != nil {
		_ = surplus.Close() // an error of closing has no effect
	}
}

// add returns the connection that the caller must close, if any.
func (p *pool) add(addr string, c *conn) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return c
	}
	kept := append(p.kept[addr], c)
	var old *conn
	if len(kept) > p.limit || c.idle.Sub(kept[0].idle) >= p.life {
		old = kept[0]
		kept = slices.Delete(kept, 0, 1)
	}
	p.kept[addr] = kept
	return old
}

// closeAll closes the kept connections. Connections of requests in progress are closed when they
// are put back.
func (p *pool) closeAll() {
	p.mu.Lock()
	all := p.kept
	p.kept, p.closing = map[string][]*conn{}, true
	p.mu.Unlock()
	for _, kept := range all {
		for _, c := range kept {
			_ = c.Close() // an error of closing has no effect
		}
	}
}
