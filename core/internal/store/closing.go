package store

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// Closing is what the last commit of a payment writes: what came of it.
type Closing struct {
	Transaction *payment.Transaction // resolved
	Result      string               // the column
	Claim       int64                // of the request's key, 0 for none
	Status      int                  // of the answer
	Answer      []byte
	Capture     int64 // id of the capture that it is, 0 for none
	Event       payment.Event
	// Endpoints are those that the tenant is taken to have, as EndpointsText tells them, and Deliveries the event's to them. With others nothing is done.
	Endpoints  string
	Deliveries []Made
	Core       int64
}

// Made is a delivery of an event to an endpoint.
type Made struct{ ID, Endpoint int64 }

// ClosePayment writes what came of a payment together with others: the transaction, the capture it may be, its event with the deliveries, and the
// answer. It reports whether that was done; if not, nothing was, and whether it can be is for commands to say. After an error it is not known.
func (db *DB) ClosePayment(ctx context.Context, c *Closing) (done bool, err error) {
	targets, ok := db.seen.of(c.Transaction.Tenant)
	if !ok {
		return false, nil
	}
	_, span := db.tracer.Step(ctx, "store commit")
	defer span.End()
	c.Endpoints, c.Core = endpointsText(targets), db.process
	for _, t := range targets {
		if t.wants(c.Event.Type) {
			c.Deliveries = append(c.Deliveries, Made{db.ids.Next(), t.endpoint})
		}
	}
	if c.Result, err = encodeResult(&c.Transaction.Result); err != nil {
		return false, err
	}
	from := db.tracer.OriginOf(ctx)
	for _, d := range c.Deliveries {
		db.origins.put(d.ID, from)
	}
	return db.engine.ClosePayment(ctx, c)
}

// EndpointsLock is what a command shares that makes an event of a tenant: see endpointsOf.
func EndpointsLock(t payment.Tenant) string { return endpointsOf(t) }

func endpointsText(targets []target) string {
	lines := make([]string, len(targets))
	for i, t := range targets {
		lines[i] = strconv.FormatInt(t.endpoint, 10) + " " + strings.Join(t.types, " ")
	}
	return strings.Join(lines, "\n")
}

// seen are the endpoints that tenants had when a command last read them, where others change them too. Nothing relies on it: a closing says by which
// endpoints it was made, and is not done when there are others.
type seen struct {
	mu      sync.Mutex
	targets map[payment.Tenant][]target // guarded by mu
}

func (s *seen) of(tenant payment.Tenant) ([]target, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.targets[tenant]
	return found, ok
}

func (s *seen) keep(tenant payment.Tenant, found []target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.targets == nil || len(s.targets) >= maxTargets {
		s.targets = map[payment.Tenant][]target{}
	}
	s.targets[tenant] = found
}
