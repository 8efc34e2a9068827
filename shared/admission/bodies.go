package admission

import (
	"context"
	"net/netip"
	"sync"

	"github.com/causeway-pay/causeway/shared/httpx"
)

// The parts of the bytes that the unfinished bodies of one client may hold: 2, 4 and 8 of 64 MiB.
const (
	addressPart  = 32
	keyPart      = 16
	merchantPart = 8
)

// leastBytes is the minimum share of an unfinished body. It bounds the number of unfinished bodies.
const leastBytes = 4 << 10

// bodies counts the bytes of the unfinished bodies.
type bodies struct {
	most int64

	mu    sync.Mutex
	total int64             // guarded by mu
	held  map[subject]int64 // guarded by mu; without zeros
}

// subject is a client that unfinished bodies count towards.
type subject struct{ kind, name string }

// client is a subject and the bytes that its unfinished bodies may hold.
type client struct {
	subject
	most int64
}

// clients are the clients that a body counts towards. The zero value of a place means none.
type clients [2]client

// clients returns the clients of a request with this context.
func (t *ticket) clients(ctx context.Context) clients {
	most := t.limiter.bodies.most
	var address client // none if the peer is a hop of ours, as on a unix socket
	if name := httpx.ClientAddressFrom(ctx); name != "" {
		address = client{subject{"address", network(name)}, most / addressPart}
	}
	if t.identity.Key == "" {
		return clients{address}
	}
	key := client{subject{"key", t.identity.Key}, most / keyPart}
	if t.identity.Public {
		return clients{address, key}
	}
	return clients{key, {subject{"merchant", t.identity.Merchant}, most / merchantPart}}
}

// network returns the network of an IPv6 address, of which one client has all addresses, and any
// other address as it is.
func network(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || a.Is4() {
		return address
	}
	n, err := a.Prefix(64)
	if err != nil {
		return address
	}
	return n.String()
}

// take counts n more bytes. If a bound forbids it, it counts nothing, and returns ErrUnfinished or
// ErrOverloaded.
func (b *bodies) take(clients clients, n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range clients {
		if c.kind != "" && b.held[c.subject]+n > c.most {
			return ErrUnfinished
		}
	}
	if b.total+n > b.most {
		return ErrOverloaded
	}
	b.total += n
	for _, c := range clients {
		if c.kind != "" {
			b.held[c.subject] += n
		}
	}
	return nil
}

// give counts n bytes less.
func (b *bodies) give(clients clients, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total -= n
	for _, c := range clients {
		if c.kind == "" {
			continue
		}
		if b.held[c.subject] -= n; b.held[c.subject] == 0 {
			delete(b.held, c.subject)
		}
	}
}
