package ratelimit

import (
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxBuckets bounds the memory of each kind: some 1 MB. A bucket is full again soon after its last
// request, and then removed first. So clients with many addresses remove no bucket that is in use,
// unless they send as many requests a second as maxBuckets buckets together allow.
const maxBuckets = 8192

// buckets holds a bucket for each K in use.
type buckets[K comparable] struct {
	kind   string
	n      int // tokens that return in a period
	period time.Duration
	burst  int
	policy string

	mu  sync.RWMutex
	all map[K]*bucket // guarded by mu
}

// bucket is the tokens of one client.
type bucket struct {
	*rate.Limiter
	held int // tokens of events without an outcome; guarded by Declines.mu
}

// free returns the number of tokens that no event has reserved.
func (b *bucket) free(now time.Time) float64 { return b.TokensAt(now) - float64(b.held) }

// newBuckets returns buckets that allow n requests in a period, nil for 0.
func newBuckets[K comparable](kind string, n int, period time.Duration) *buckets[K] {
	if n <= 0 {
		return nil
	}
	const periods = 2 // that refill an empty bucket
	return &buckets[K]{
		kind: kind, n: n, period: period, burst: periods * n, all: map[K]*bucket{},
		policy: fmt.Sprintf(`"%s";q=%d;w=%d`, kind, periods*n, int(periods*period.Seconds())),
	}
}

// take counts a request of k if its bucket allows it. A nil receiver allows all requests, and has
// no policy.
func (l *buckets[K]) take(k K, now time.Time) Verdict {
	if l == nil {
		return Verdict{Allowed: true}
	}
	b := l.bucket(k, now)
	return l.verdict(b.AllowN(now, 1), b.TokensAt(now))
}

// look returns the bucket of k, and whether it has a free token. A nil receiver has no buckets.
func (l *buckets[K]) look(k K, now time.Time) (*bucket, Verdict) {
	if l == nil {
		return nil, Verdict{Allowed: true}
	}
	b := l.bucket(k, now)
	v := l.verdict(b.free(now) >= 1, b.free(now))
	if !v.Allowed && b.TokensAt(now) >= 1 {
		v.Held, v.RetryAfter = true, 1
	}
	return b, v
}

// verdict returns the verdict of a bucket that has a number of tokens left.
func (l *buckets[K]) verdict(allowed bool, left float64) Verdict {
	v := Verdict{Allowed: allowed, Policy: l.policy, Of: l.kind, Remaining: int(max(left, 0))}
	v.Reset = l.seconds(float64(l.burst) - max(left, 0))
	if !allowed {
		v.RetryAfter = max(l.seconds(1-left), 1)
	}
	return v
}

// seconds returns how long it takes to refill tokens, rounded up.
func (l *buckets[K]) seconds(tokens float64) int {
	return int(math.Ceil(tokens * l.period.Seconds() / float64(l.n)))
}

func (l *buckets[K]) bucket(k K, now time.Time) *bucket {
	l.mu.RLock()
	b, ok := l.all[k]
	l.mu.RUnlock()
	if ok {
		return b
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.all[k]; ok {
		return b
	}
	if len(l.all) >= maxBuckets {
		l.sweep(now)
	}
	b = &bucket{Limiter: rate.NewLimiter(rate.Limit(float64(l.n)/l.period.Seconds()), l.burst)}
	l.all[k] = b
	return b
}

// sweep makes room. A full bucket is equal to a new one, so it is removed first. If too few are
// full, the fullest others are removed too, and their clients start with full buckets.
func (l *buckets[K]) sweep(now time.Time) {
	const room = maxBuckets / 4
	for missing := 0.0; missing == 0 || len(l.all) > maxBuckets-room; missing = 2*missing + 1 {
		for k, b := range l.all {
			if b.free(now) >= float64(l.burst)-missing {
				delete(l.all, k)
			}
		}
	}
}
