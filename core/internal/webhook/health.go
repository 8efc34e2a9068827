package webhook

import (
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

const (
	// slowAfter is how long a request may take at a fast endpoint. A longer request is late.
	slowAfter = time.Second
	// firstWindow is the number of concurrent attempts at a slow endpoint, and at an endpoint without
	// a result in this process.
	firstWindow = 4
	// mostWindow is the largest window of an endpoint that responds quickly: 1,000 events a second at
	// 100 ms. A failing endpoint has a window of 1.
	mostWindow = 100
)

// health is the deliverer's memory of an endpoint with pending deliveries.
type health struct {
	under  int  // attempts under way
	window int  // the largest number of concurrent attempts
	slow   bool // the last attempt failed or was late
}

// healthOf returns the health of an endpoint. It is called with mu held.
func (d *Deliverer) healthOf(e *payment.Endpoint) *health {
	h := d.health[e.ID]
	if h == nil {
		h = &health{window: firstWindow}
		d.health[e.ID] = h
	}
	return h
}

// limit returns how many attempts may be under way at an endpoint.
func (h *health) limit(e *payment.Endpoint) int {
	if !e.FailingSince.IsZero() { // another core may have found the failure
		return 1
	}
	return h.window
}

// laneOf returns the lane of an endpoint. It is called with mu held.
func (d *Deliverer) laneOf(e *payment.Endpoint) *lane {
	if d.healthOf(e).slow || !e.FailingSince.IsZero() {
		return d.slow
	}
	return d.fast
}

// forget drops the health of all endpoints that have no pending deliveries, or are disabled. It is
// called with mu held.
func (d *Deliverer) forget(waiting map[int64]bool) {
	for id, h := range d.health {
		if h.under == 0 && !waiting[id] {
			delete(d.health, id)
		}
	}
}

// begin notes that the request of an attempt begins.
func (d *Deliverer) begin(a *attempt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a.begun = d.Clock.Now()
	if a.lane == d.fast {
		d.requests[a] = struct{}{}
	}
}

// expel takes the late requests out of the fast lane, so that others can begin. They count towards
// the share of their tenants until they end. It returns the time until the next request is late.
func (d *Deliverer) expel(now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := slowAfter
	for a := range d.requests {
		if left := slowAfter - now.Sub(a.begun); left > 0 {
			next = min(next, left)
			continue
		}
		delete(d.requests, a)
		a.late = true
		a.lane.count--
		h := d.healthOf(a.endpoint)
		h.slow, h.window = true, firstWindow
	}
	return next
}

// learn notes that the request of an attempt has ended.
func (d *Deliverer) learn(a *attempt, result payment.DeliveryAttempt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.requests, a)
	h := d.healthOf(a.endpoint)
	failed := result.Error != ""
	switch h.slow = failed || result.Duration >= slowAfter; {
	case failed:
		h.window = 1
	case h.slow:
		h.window = firstWindow
	default:
		h.window = min(h.window+1, mostWindow)
	}
}
