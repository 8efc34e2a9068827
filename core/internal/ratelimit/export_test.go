package ratelimit

// MaxBuckets is the bound.
const MaxBuckets = maxBuckets

// Len is how many buckets of keys there are.
func (l *Limiter) Len() int {
	l.keys.mu.RLock()
	defer l.keys.mu.RUnlock()
	return len(l.keys.all)
}
