package webhook

import (
	"net/http"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// Schedule is a copy of the schedule.
func Schedule() []time.Duration { return slices.Clone(schedule) }

// Control is what the dialer asks before it connects.
func (p Policy) Control(address string) error { return p.control("tcp", address, nil) }

// Sign is the webhook-signature header.
func (s Secrets) Sign(e *payment.Endpoint, message string, at int64, body []byte) string {
	return s.sign(e, message, at, body)
}

// Proxied reports whether requests may go through a proxy.
func (d *Deliverer) Proxied() bool { return d.client.Transport.(*http.Transport).Proxy != nil }

// Proven counts the endpoints that count as responsive at a time.
func (d *Deliverer) Proven(now time.Time) (n int) {
	d.forget(now)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, of := range d.took {
		n += len(of)
	}
	return n
}
