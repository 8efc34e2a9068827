package api

import "sync"

// confirmations counts, for each transaction, the confirmations by publishable keys that this
// process is checking. A refusal is counted only after its check. Each confirmation therefore
// reserves one before, so concurrent confirmations cannot exceed the limit. Each core reserves
// separately: if n refusals are counted, each core checks up to MaxRefusedConfirmations-n at a
// time.
type confirmations struct {
	mu      sync.Mutex
	judging map[int64]int // guarded by mu: by transaction
}

// begin reserves a refusal and returns how many others are reserved. The caller must read the count
// of refusals after begin, and write its own refusal before it calls end.
func (c *confirmations) begin(transaction int64) (others int, end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.judging == nil {
		c.judging = map[int64]int{}
	}
	others = c.judging[transaction]
	c.judging[transaction]++
	return others, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.judging[transaction]--; c.judging[transaction] == 0 {
			delete(c.judging, transaction)
		}
	}
}
