package ratelimit

import (
	"fmt"
	"time"
)

// Limiter holds a bucket for each key and for each group of keys that is in use. It is safe for
// concurrent use.
type Limiter struct {
	keys   *buckets[int64]
	groups *buckets[Group] // nil sets no limit
}

// Client is the client that a request counts towards.
type Client struct {
	Key   int64
	Group Group
}

// Group is the keys of one merchant that share a bucket. Public keys share a second one, because
// any client can use that up.
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
	Policy     string // the value of the RateLimit-Policy header field: q requests in w seconds
	Of         string // the kind of the bucket: key or merchant
}

// New returns a Limiter that allows perKey requests a second of each key, and perMerchant of each
// group. A client that has been idle may send twice as many at once. 0 sets no limit.
func New(perKey, perMerchant int) *Limiter {
	return &Limiter{newBuckets[int64]("key", perKey), newBuckets[Group]("merchant", perMerchant)}
}

// Take counts a request. The verdict is the one of the bucket that refused it, else the one of the
// key's bucket. A request that the key's bucket refuses does not count towards the merchant's.
func (l *Limiter) Take(c Client, now time.Time) Verdict {
	v := l.keys.take(c.Key, now)
	if !v.Allowed {
		return v
	}
	if group := l.groups.take(c.Group, now); !group.Allowed || v.Policy == "" {
		return group
	}
	return v
}

// Field is the value of the RateLimit header field.
func (v Verdict) Field() string { return fmt.Sprintf(`"%s";r=%d;t=%d`, v.Of, v.Remaining, v.Reset) }
