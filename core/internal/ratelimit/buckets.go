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
	rate   rate.Limit
	burst  int
	policy string

	mu  sync.RWMutex
	all map[K]*rate.Limiter // guarded by mu
}

// newBuckets returns buckets that allow perSecond requests a second, nil for 0.
func newBuckets[K comparable](kind string, perSecond int) *buckets[K] {
	if perSecond <= 0 {
		return nil
	}
	burst := 2 * perSecond
	return &buckets[K]{
		kind: kind, rate: rate.Limit(perSecond), burst: burst, all: map[K]*rate.Limiter{},
		policy: fmt.Sprintf(`"%s";q=%d;w=%d`, kind, burst, burst/perSecond),
	}
}

// take counts a request of k. A nil receiver allows all requests, and has no policy.
func (l *buckets[K]) take(k K, now time.Time) Verdict {
	if l == nil {
		return Verdict{Allowed: true}
	}
	b := l.bucket(k, now)
	v := Verdict{Allowed: b.AllowN(now, 1), Policy: l.policy, Of: l.kind}
	left := max(b.TokensAt(now), 0)
	v.Remaining = int(left)
	v.Reset = l.seconds(float64(l.burst) - left)
	if !v.Allowed {
		v.RetryAfter = max(l.seconds(1-left), 1)
	}
	return v
}

// seconds returns how long it takes to refill tokens, rounded up.
func (l *buckets[K]) seconds(tokens float64) int { return int(math.Ceil(tokens / float64(l.rate))) }

func (l *buckets[K]) bucket(k K, now time.Time) *rate.Limiter {
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
	b = rate.NewLimiter(l.rate, l.burst)
	l.all[k] = b
	return b
}

// sweep makes room. A full bucket is equal to a new one, so it is removed first. If too few are
// full, the fullest others are removed too, and their clients start with full buckets.
func (l *buckets[K]) sweep(now time.Time) {
	const room = maxBuckets / 4
	for missing := 0.0; missing == 0 || len(l.all) > maxBuckets-room; missing = 2*missing + 1 {
		for k, b := range l.all {
			if b.TokensAt(now) >= float64(l.burst)-missing {
				delete(l.all, k)
			}
		}
	}
}
