package ratelimit

// MaxBuckets is the bound.
const MaxBuckets = maxBuckets

// Len returns how many buckets of keys there are.
func (l *Limiter) Len() int { return l.keys.len() }

// LenOfPayers returns how many buckets of the smallest networks there are.
func (l *Limiter) LenOfPayers() int { return l.payers[0].len() }

func (l *buckets[K]) len() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.all)
}
