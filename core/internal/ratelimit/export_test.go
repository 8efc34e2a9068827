package ratelimit

// MaxBuckets is the bound.
const MaxBuckets = maxBuckets

// Len is how many buckets there are.
func (l *Limiter) Len() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.buckets)
}
