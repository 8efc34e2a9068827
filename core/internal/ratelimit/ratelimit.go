package ratelimit

import (
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxBuckets bounds the memory: some 1 MB.
const maxBuckets = 8192

// Limiter holds a bucket for each key that is in use. It is safe for concurrent use.
type Limiter struct {
	rate   rate.Limit
	burst  int
	policy string

	mu      sync.RWMutex
	buckets map[int64]*rate.Limiter // guarded by mu
}

// Verdict is the result of the bucket for one request.
type Verdict struct {
	Allowed    bool
	Remaining  int // requests that would be allowed right now
	Reset      int // seconds until the bucket is full again
	RetryAfter int // seconds until a refused request would be allowed, 0 for an allowed one
}

// New returns a Limiter that allows perSecond requests a second, and twice as many at once to a key
// that has been idle.
func New(perSecond int) *Limiter {
	burst := 2 * perSecond
	return &Limiter{
		rate: rate.Limit(perSecond), burst: burst, buckets: map[int64]*rate.Limiter{},
		policy: fmt.Sprintf(`"key";q=%d;w=%d`, burst, burst/perSecond),
	}
}

// Policy is the value of the RateLimit-Policy header field: how many requests (q) in how many
// seconds (w).
func (l *Limiter) Policy() string { return l.policy }

// Take counts a request of the key.
func (l *Limiter) Take(key int64, now time.Time) Verdict {
	b := l.bucket(key, now)
	v := Verdict{Allowed: b.AllowN(now, 1)}
	left := max(b.TokensAt(now), 0)
	v.Remaining = int(left)
	v.Reset = l.seconds(float64(l.burst) - left)
	if !v.Allowed {
		v.RetryAfter = max(l.seconds(1-left), 1)
	}
	return v
}

// Field is the value of the RateLimit header field.
func (v Verdict) Field() string { return fmt.Sprintf(`"key";r=%d;t=%d`, v.Remaining, v.Reset) }

// seconds is how long it takes to earn tokens, rounded up.
func (l *Limiter) seconds(tokens float64) int { return int(math.Ceil(tokens / float64(l.rate))) }

func (l *Limiter) bucket(key int64, now time.Time) *rate.Limiter {
	l.mu.RLock()
	b, ok := l.buckets[key]
	l.mu.RUnlock()
	if ok {
		return b
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.buckets[key]; ok {
		return b
	}
	if len(l.buckets) >= maxBuckets {
		l.sweep(now)
	}
	b = rate.NewLimiter(l.rate, l.burst)
	l.buckets[key] = b
	return b
}

// sweep makes room. A full bucket is equal to a new one, so it is removed first. If too few are
// full, others are removed too, and their keys begin anew.
func (l *Limiter) sweep(now time.Time) {
	for key, b := range l.buckets {
		if b.TokensAt(now) >= float64(l.burst) {
			delete(l.buckets, key)
		}
	}
	for key := range l.buckets {
		if len(l.buckets) <= maxBuckets*3/4 {
			return
		}
		delete(l.buckets, key)
	}
}
