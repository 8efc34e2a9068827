package admission

import (
	"context"
	"net/netip"
	"sync"

	"github.com/causeway-pay/causeway/shared/httpx"
)

// subject is a client that slots and unfinished bodies count towards.
type subject struct {
	kind kind
	name string
}

// kind is a kind of subject.
type kind int

// The kinds of subjects. The zero value means none.
const (
	address    kind = iota + 1 // of unauthenticated requests
	payer                      // the address of requests with a publishable key
	key                        // an API key
	merchant                   // a merchant in one mode
	publicKeys                 // the publishable keys of a merchant in one mode, which every payer can read
	site                       // the IPv6 network of 48 bits that a site gets, of unauthenticated requests
)

// bodyParts are the parts of the bytes that the unfinished bodies of one subject may hold. Of
// 64 MiB they are 2, 2, 4, 8, 4 and 4.
var bodyParts = [...]int64{address: 32, payer: 32, key: 16, merchant: 8, publicKeys: 16, site: 16}

// livePart is the part of the slots and of the bytes that test mode cannot hold: a quarter.
const livePart = 4

// leastBytes is the minimum share of an unfinished body. It bounds the number of unfinished bodies.
const leastBytes = 4 << 10

// client is the subjects that a request counts towards.
type client struct {
	subjects [4]subject
	test     bool // test mode
	public   bool // a publishable key
}

// client returns the client of a request with this context. Unauthenticated requests count towards
// their address. They may turn out to be live.
func (i Identity) client(ctx context.Context) client {
	switch {
	case i.Merchant == "":
		return client{subjects: [4]subject{from(ctx, address), from(ctx, site)}}
	case i.Public:
		return client{
			subjects: [4]subject{from(ctx, payer), {key, i.Key}, {publicKeys, i.Merchant}, {merchant, i.Merchant}},
			test:     !i.Live, public: true,
		}
	}
	return client{subjects: [4]subject{{key, i.Key}, {merchant, i.Merchant}}, test: !i.Live}
}

// from returns the subject of a kind for the client address. It returns none if the peer is a hop
// of ours, as on a unix socket, and no site for an IPv4 address.
func from(ctx context.Context, k kind) subject {
	name := httpx.ClientAddressFrom(ctx)
	if name == "" {
		return subject{}
	}
	if k != site {
		return subject{k, ClientOf(name)}
	}
	a, err := netip.ParseAddr(name)
	if err != nil || a.Is4() {
		return subject{}
	}
	return subject{k, httpx.NetworkOf(a, 24, 48).String()}
}

// ClientOf returns the name of the client with an address. It is the address, or the network of 64
// bits of an IPv6 address, because one client has all its addresses.
func ClientOf(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || a.Is4() {
		return address
	}
	return httpx.NetworkOf(a, 32, 64).String()
}

// pool is the slots, or the bytes of unfinished bodies, which all clients share.
type pool struct {
	most  int64
	share func(k kind, free int64) int64 // the most that a subject may hold if so many are free
	over  error                          // the error of a client whose share is held

	mu    sync.Mutex
	total int64             // guarded by mu
	held  map[subject]int64 // guarded by mu; without zeros
}

// newSlots returns a pool of slots, of which a subject holds its part of the free ones. A fixed
// share would have to be small, or a few merchants could hold all slots.
func newSlots(most int64) *pool {
	return &pool{most: most, share: partOfFree, over: ErrTooMany, held: map[subject]int64{}}
}

// newBodies returns a pool of the bytes of unfinished bodies. A subject holds its part of all, and
// at most its part of the free ones. Without the second bound, a few subjects would leave none.
func newBodies(most int64) *pool {
	part := func(k kind, free int64) int64 { return min(most/bodyParts[k], partOfFree(k, free)) }
	return &pool{most: most, share: part, over: ErrUnfinished, held: map[subject]int64{}}
}

// partOfFree is the most that a subject may hold if so many are free: half as many. That is a third
// of all if the subject is alone. Each further subject gets less, so it takes more than a dozen to
// leave none free. Public keys have half of their merchant's part. Its secret keys have as much at
// least: see pool.leftToSecretKeys.
func partOfFree(k kind, free int64) int64 {
	if k == publicKeys {
		return (free + 3) / 4
	}
	return (free + 1) / 2
}

// take counts n more. If a bound forbids it, it counts nothing, and returns ErrOverloaded or the
// error of the client's share.
func (p *pool) take(c client, n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tryAdd(c, n)
}

// give counts n less.
func (p *pool) give(c client, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(c, -n)
}

// move makes n count towards another client. If a bound forbids it, it returns an error as take
// does, and n still counts towards the first.
func (p *pool) move(from, to client, n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(from, -n)
	err := p.tryAdd(to, n)
	if err != nil {
		p.add(from, n)
	}
	return err
}

// tryAdd is take. The caller holds mu.
func (p *pool) tryAdd(c client, n int64) error {
	free := p.most - p.total
	if c.test {
		free -= p.most / livePart
	}
	if n > free {
		return ErrOverloaded
	}
	for _, s := range c.subjects {
		if s.kind != 0 && p.held[s]+n > p.share(s.kind, free) && !p.leftToSecretKeys(c, s, n, free) {
			return p.over
		}
	}
	p.add(c, n)
	return nil
}

// leftToSecretKeys reports whether a merchant's secret keys may hold n more, although its share is
// held. They may always hold as much as its public keys may. The caller holds mu.
func (p *pool) leftToSecretKeys(c client, s subject, n, free int64) bool {
	return s.kind == merchant && !c.public && p.held[s]-p.held[subject{publicKeys, s.name}]+n <= p.share(publicKeys, free)
}

// add counts n more, or less. The caller holds mu.
func (p *pool) add(c client, n int64) {
	p.total += n
	for _, s := range c.subjects {
		if s.kind == 0 {
			continue
		}
		if p.held[s] += n; p.held[s] == 0 {
			delete(p.held, s)
		}
	}
}
