package webhook

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// Schedule returns a copy of the schedule.
func Schedule() []time.Duration { return slices.Clone(schedule) }

// Control checks an address as the dialer does before it connects.
func (p Policy) Control(address string) error { return p.control("tcp", address, nil) }

// Sign returns the webhook-signature header.
func (s Secrets) Sign(e *payment.Endpoint, message string, at int64, body []byte) string {
	return s.sign(e, message, at, body)
}

// Proxied reports whether requests may go through a proxy.
func (d *Deliverer) Proxied() bool { return d.client.Transport.(*http.Transport).Proxy != nil }

// Remembered counts the endpoints whose health is in memory.
func (d *Deliverer) Remembered() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.health)
}

// Learn notes that a request to an endpoint has ended, and returns how many attempts may be under
// way at the endpoint.
func (d *Deliverer) Learn(e *payment.Endpoint, took time.Duration, failure string) (window int) {
	d.learn(&attempt{endpoint: e}, payment.DeliveryAttempt{Duration: took, Error: failure})
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.healthOf(e).limit(e)
}

// SetLanes changes the bounds of the lanes. Call it before Run.
func (d *Deliverer) SetLanes(fast, slow int) { d.fast.most, d.slow.most = fast, slow }

// UnderWay returns the attempts that count in the fast lane and in the slow one.
func (d *Deliverer) UnderWay() (fast, slow int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fast.count, d.slow.count
}

// ObserveResults calls fn before each commit of results with their deliveries. Call it before Run.
func (d *Deliverer) ObserveResults(fn func(deliveries []int64)) {
	commit := d.results.Commit
	d.results.Commit = func(batch []*result) error {
		var deliveries []int64
		for _, r := range batch {
			deliveries = append(deliveries, r.lease.Delivery)
		}
		fn(deliveries)
		return commit(batch)
	}
}

// OneCommitOfResults allows only one commit of results at a time, even if it takes long. Call it
// before Run.
func (d *Deliverer) OneCommitOfResults() { d.results.Slots = 1 }

// WaitingResults returns how many results wait for a commit.
func (d *Deliverer) WaitingResults() int { return d.results.Waiting() }

// Hasten looks for deliveries of a clock that was ahead. now is the current time, read before the
// call.
func (d *Deliverer) Hasten(ctx context.Context, now time.Time) bool { return d.hasten(ctx, now) }

// NextAttempt returns the time of the next attempt after the n-th one failed at now.
func NextAttempt(n int64, created, now time.Time) (time.Time, bool) {
	return nextAttempt(n, created, now)
}
