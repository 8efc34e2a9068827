package api

import "sync"

// confirmations counts for each transaction the confirmations by publishable keys that this process
// is judging. A wrong source is counted after it was judged, so each of them reserves a refusal
// first. No more are judged in parallel than one after the other. Several cores reserve separately.
// While the count of refusals is n, each of them judges up to MaxRefusedConfirmations-n at a time.
type confirmations struct {
	mu      sync.Mutex
	judging map[int64]int // guarded by mu: by transaction
}

// begin reserves a refusal and returns how many others are reserved. The refusals that are counted
// must be read after begin, and the confirmation's own must be written before end is called.
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
