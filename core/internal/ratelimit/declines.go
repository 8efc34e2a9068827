package ratelimit

import (
	"slices"
	"sync"
	"time"
)

const (
	// networkDeclines is how many times as many declines a network may have as an address.
	networkDeclines = 10
	// spareDeclines is how many declines in sparePeriod a site may have while its network or the key
	// is at its limit. After a pause it may have twice as many.
	spareDeclines = 1
	sparePeriod   = 12 * time.Hour
)

// Declines bounds the declined payments of each key, each client address and each network. Clients
// that use up the limits of a network or a key must not keep other clients from paying. So each
// site has a spare limit for that case. A site is an IPv4 address, or an IPv6 network of 48 bits:
// one client can have all addresses of it. A payment holds a token until its outcome, and only a
// decline spends it. Declines is safe for concurrent use.
type Declines struct {
	mu        sync.Mutex
	keys      *buckets[int64]        // nil sets no limit
	addresses *buckets[payerNetwork] // nil sets no limit
	networks  *buckets[payerNetwork] // nil sets no limit
	spare     *buckets[payerNetwork]
}

// NewDeclines returns Declines that allow key declines an hour to each key, and payer declines to
// each client address. A client without recent declines may have twice as many. 0 sets no limit.
func NewDeclines(key, payer int) *Declines {
	return &Declines{
		keys:      newBuckets[int64]("key", key, time.Hour),
		addresses: newBuckets[payerNetwork]("address", payer, time.Hour),
		networks:  newBuckets[payerNetwork]("network", networkDeclines*payer, time.Hour),
		spare:     newBuckets[payerNetwork]("spare", spareDeclines, sparePeriod),
	}
}

// Hold reserves a token of each limit that a decline of the client's payment counts towards. If one
// of them has none, it reserves nothing and returns the verdict of that limit. Otherwise the caller
// calls end with the payment's outcome.
func (d *Declines) Hold(c Client, now time.Time) (v Verdict, end func(now time.Time, declined bool)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	limits, v := d.limits(c, now)
	if !v.Allowed {
		return v, nil
	}
	limits = slices.DeleteFunc(limits, func(b *bucket) bool { return b == nil })
	for _, b := range limits {
		b.held++
	}
	return v, func(now time.Time, declined bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, b := range limits {
			b.held--
			if declined {
				b.ReserveN(now, 1)
			}
		}
	}
}

// limits returns the buckets that a payment counts towards now, or the verdict of the bucket that
// refuses it.
func (d *Declines) limits(c Client, now time.Time) ([]*bucket, Verdict) {
	key, shared := d.keys.look(c.Key, now)
	if !c.Payer.IsValid() {
		return []*bucket{key}, shared
	}
	address, v := d.addresses.look(c.network(32, 64), now)
	if !v.Allowed {
		return nil, v
	}
	network, v := d.networks.look(c.network(24, 48), now)
	if v.Allowed {
		v = shared
	}
	if v.Allowed {
		return []*bucket{address, network, key}, v
	}
	spare, own := d.spare.look(c.network(32, 48), now)
	if own.Allowed || own.Held {
		return []*bucket{address, spare}, own
	}
	return nil, v
}
