package ratelimit

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/causeway-pay/causeway/shared/httpx"
)

// Rates are requests in a period. A client that has been idle may make twice as many at the same
// time. 0 sets no limit.
type Rates struct {
	Key      int // of each key
	Merchant int // of each group of keys
	Payer    int // of each client address, with the publishable keys of a group
}

// Limiter holds a bucket for each key, each group of keys and each network of payers that is in
// use. It is safe for concurrent use.
type Limiter struct {
	keys   *buckets[int64]
	groups *buckets[Group]                       // nil sets no limit
	payers [len(networks)]*buckets[payerNetwork] // nil sets no limit
}

// networks are the networks of a payer that have a bucket, the smallest one first. Every client can
// read a publishable key, so without these buckets one client could use up the key's bucket. One
// client can have all 65,536 networks of 64 bits in a network of 48 bits. A provider can have a
// whole network of 32 bits.
var networks = [...]struct {
	kind   string
	v4, v6 int // bits
	factor int // how many times as many requests as an address
}{
	{"address", 32, 64, 1},
	{"network", 24, 48, 2},
	{"network", 16, 32, 4},
}

// payerNetwork is the payers of a group in one network.
type payerNetwork struct {
	group   Group
	network netip.Prefix
}

// Client is the client that a request counts towards.
type Client struct {
	Key   int64
	Group Group
	Payer netip.Addr // the client address of a request with a publishable key; zero for none
}

// network returns the payer's network: the first v4 or v6 bits of its address.
func (c Client) network(v4, v6 int) payerNetwork {
	return payerNetwork{c.Group, httpx.NetworkOf(c.Payer, v4, v6)}
}

// Group is the keys of one merchant that share a bucket. Public keys share a second bucket, because
// any client can use it up.
type Group struct {
	Merchant     int64
	Live, Public bool
}

// Verdict is the result of the bucket for one request.
type Verdict struct {
	Allowed    bool
	Remaining  int    // requests that would be allowed right now
	Reset      int    // seconds until the bucket is full again
	RetryAfter int    // seconds until a refused request would be allowed, 0 for an allowed one
	Held       bool   // only events without an outcome refuse it
	Policy     string // the value of the RateLimit-Policy header field: q requests in w seconds; "" if no limit holds
	Of         string // the kind of the bucket: key, merchant, address or network
}

// New returns a Limiter that allows these rates in a period of whole seconds.
func New(r Rates, period time.Duration) *Limiter {
	l := &Limiter{
		keys: newBuckets[int64]("key", r.Key, period), groups: newBuckets[Group]("merchant", r.Merchant, period),
	}
	for i, n := range networks {
		l.payers[i] = newBuckets[payerNetwork](n.kind, n.factor*r.Payer, period)
	}
	return l
}

// Take counts a request. It counts towards the networks of its payer, its key and its group of
// keys, in this order. If a bucket refuses it, later buckets do not count it. So payers of one
// network cannot use up the key's bucket. Take returns the verdict of the bucket that refused the
// request. If none did, it returns the key's verdict, or another bucket's if keys have none.
func (l *Limiter) Take(c Client, now time.Time) Verdict {
	payer := l.ofPayer(c, now)
	if !payer.Allowed {
		return payer
	}
	key := l.keys.take(c.Key, now)
	if !key.Allowed {
		return key
	}
	group := l.groups.take(c.Group, now)
	switch {
	case !group.Allowed:
		return group
	case key.Policy != "":
		return key
	case group.Policy != "":
		return group
	}
	return payer
}

// TakeForbidden counts a request that its key must not make. It counts only towards the networks of
// its payer. Without these it counts like any other request.
func (l *Limiter) TakeForbidden(c Client, now time.Time) Verdict {
	if v := l.ofPayer(c, now); v.Policy != "" {
		return v
	}
	return l.Take(c, now)
}

// ofPayer counts a request towards the networks of its payer until one refuses it. It returns the
// verdict of that network, otherwise of the smallest network. A client without a payer is allowed,
// without a policy.
func (l *Limiter) ofPayer(c Client, now time.Time) Verdict {
	first := Verdict{Allowed: true}
	if !c.Payer.IsValid() {
		return first
	}
	for i, n := range networks {
		v := l.payers[i].take(c.network(n.v4, n.v6), now)
		if !v.Allowed {
			return v
		}
		if i == 0 {
			first = v
		}
	}
	return first
}

// Field returns the value of the RateLimit header field.
func (v Verdict) Field() string { return fmt.Sprintf(`"%s";r=%d;t=%d`, v.Of, v.Remaining, v.Reset) }
