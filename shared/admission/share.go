package admission

import (
	"context"
	"net/netip"
	"sync"

	"github.com/causeway-pay/causeway/shared/httpx"
)

// subject is a client that slots and unfinished bodies count towards.
type subject struct {
	kind    kind
	name    string       // the id of a key or a merchant; "" for none
	network netip.Prefix // the network of an address; zero for none
}

// kind is a kind of subject.
type kind int

// The kinds of subjects. The zero value means none.
const (
	address    kind = iota + 1 // of unauthenticated requests
	site                       // the IPv6 site of unauthenticated requests: see httpx.SiteOf
	payer                      // the site of requests with publishable keys
	payerOf                    // the site of requests with the publishable keys of a merchant in one mode
	key                        // an API key
	merchant                   // a merchant in one mode
	publicKeys                 // the publishable keys of a merchant in one mode, which every payer can read
)

// bodyParts are the parts of the bytes that the unfinished bodies of one subject may hold. Of
// 64 MiB they are 2, 4, 2, 4, 8 and 4. See pool.shareOf for payerOf.
var bodyParts = [...]int64{address: 32, site: 16, payer: 32, key: 16, merchant: 8, publicKeys: 16}

// livePart is the part of the slots and of the bytes that test mode cannot hold: a quarter.
const livePart = 4

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
		return client{subjects: unauthenticated(ctx)}
	case i.Public:
		c := client{test: !i.Live, public: true}
		c.subjects = [4]subject{{kind: publicKeys, name: i.Merchant}, {kind: merchant, name: i.Merchant}}
		if a := httpx.OwnAddressFrom(ctx); a.IsValid() {
			c.subjects[2] = subject{kind: payer, network: httpx.SiteOf(a)}
			c.subjects[3] = subject{payerOf, i.Merchant, httpx.SiteOf(a)}
		}
		return c
	}
	return client{subjects: [4]subject{{kind: key, name: i.Key}, {kind: merchant, name: i.Merchant}}, test: !i.Live}
}

// unauthenticated returns the subjects of the client address. There are none if the peer is a hop
// of ours, as on a unix socket, and no site for an IPv4 address.
func unauthenticated(ctx context.Context) (s [4]subject) {
	name := httpx.ClientAddressFrom(ctx)
	if name == "" {
		return s
	}
	a, err := netip.ParseAddr(name)
	if err != nil {
		return s
	}
	s[0] = subject{kind: address, network: clientOf(a)}
	if !a.Is4() {
		s[1] = subject{kind: site, network: httpx.SiteOf(a)}
	}
	return s
}

// ClientOf returns the name of the client with an address. It is the address, or the network of 64
// bits of an IPv6 address, because one client has all its addresses.
func ClientOf(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || a.Is4() {
		return address
	}
	return clientOf(a).String()
}

func clientOf(a netip.Addr) netip.Prefix { return httpx.NetworkOf(a, 32, 64) }

// pool is the slots, the bytes of unfinished bodies, or the memory for complete bodies, which all
// clients share.
type pool struct {
	most  int64
	share func(k kind, free int64) int64 // the most that a subject may hold if free slots or bytes remain
	over  error                          // the error of a client whose share is held

	mu    sync.Mutex
	total int64             // guarded by mu
	held  map[subject]int64 // guarded by mu; without zeros
}

// newSlots returns a pool of slots, or of the memory for complete bodies. A subject holds at most
// its part of the free slots. A fixed share would have to be small, because a few merchants could
// otherwise hold all slots.
func newSlots(most int64) *pool {
	return &pool{most: most, share: partOfFree, over: ErrTooMany, held: map[subject]int64{}}
}

// newBodies returns a pool of the bytes of unfinished bodies. A subject holds at most its part of
// all bytes, and at most its part of the free bytes. Without the second bound, a few subjects could
// hold all bytes.
func newBodies(most int64) *pool {
	part := func(k kind, free int64) int64 { return min(most/bodyParts[k], partOfFree(k, free)) }
	return &pool{most: most, share: part, over: ErrUnfinished, held: map[subject]int64{}}
}

// partOfFree returns the most that a subject may hold: half of the free slots or bytes. That is a
// third of all if the subject is alone. Each further subject gets less, so more than a dozen
// subjects are needed to use up all. Public keys have half of their merchant's part, and its secret
// keys at least as much: see pool.leftToSecretKeys.
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
		if s.kind != 0 && p.held[s]+n > p.shareOf(s, free) && !p.leftToSecretKeys(c, s, n, free) {
			return p.over
		}
	}
	p.add(c, n)
	return nil
}

// shareOf returns the most that s may hold if free slots remain. A site of payers may hold a
// quarter of the rest of the share of its merchant's publishable keys. So one site leaves four
// fifths of the share to others, and each further site gets less. The caller holds mu.
func (p *pool) shareOf(s subject, free int64) int64 {
	if s.kind != payerOf {
		return p.share(s.kind, free)
	}
	rest := p.share(publicKeys, free) - p.held[subject{kind: publicKeys, name: s.name}]
	return (max(rest, 0) + 3) / 4
}

// leftToSecretKeys reports whether a merchant's secret keys may hold n more, although its share is
// held. They may always hold as much as its public keys may. The caller holds mu.
func (p *pool) leftToSecretKeys(c client, s subject, n, free int64) bool {
	payers := p.held[subject{kind: publicKeys, name: s.name}]
	return s.kind == merchant && !c.public && p.held[s]-payers+n <= p.share(publicKeys, free)
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
