package store

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var selectTargets = declare("selectTargets")

const (
	targetTime = 5 * time.Second
	maxTargets = 65536 // tenants
)

// endpointCache holds the enabled endpoints of tenants as a command last read them.
//
// It is exact if this process alone writes to the store. An event of a tenant in the cache then
// costs no read. A command that changes endpoints removes its tenant, and a rollback removes it
// again. After targetTime a tenant is read again, because a tool may have written to the file.
//
// In a shared store other processes change endpoints, too. The cache is then only a guess.
type endpointCache struct {
	exact   bool
	mu      sync.Mutex
	known   map[payment.Tenant]knownTargets // guarded by mu
	changed []payment.Tenant                // guarded by mu; with endpoints that the current batch has changed
}

// knownTargets are the endpoints of one tenant.
type knownTargets struct {
	endpoints []payment.Endpoint // with an id and types only
	at        time.Time          // of the read
}

func newEndpointCache(exact bool) *endpointCache {
	return &endpointCache{exact: exact, known: map[payment.Tenant]knownTargets{}}
}

// find returns the tenant's endpoints if the cache is exact and holds them.
func (c *endpointCache) find(tenant payment.Tenant, now time.Time) ([]payment.Endpoint, bool) {
	if !c.exact {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.known[tenant]
	age := now.Sub(k.at)
	return k.endpoints, ok && age >= 0 && age < targetTime
}

// guess returns the tenant's endpoints as a command last read them, at any time.
func (c *endpointCache) guess(tenant payment.Tenant) ([]payment.Endpoint, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.known[tenant]
	return k.endpoints, ok
}

func (c *endpointCache) keep(tenant payment.Tenant, found []payment.Endpoint, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= maxTargets {
		clear(c.known)
	}
	c.known[tenant] = knownTargets{found, now}
}

// forget removes a tenant whose endpoints a command changes.
func (c *endpointCache) forget(tenant payment.Tenant) {
	if !c.exact {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, tenant)
	c.changed = append(c.changed, tenant)
}

// rolledBack removes the tenants of forget again: a command that was rolled back may have read
// their changed endpoints.
func (c *endpointCache) rolledBack() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, tenant := range c.changed {
		delete(c.known, tenant)
	}
}

// batchEnded ends a batch.
func (c *endpointCache) batchEnded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = c.changed[:0]
}

// endpointsLock returns the name of the lock under which commands change the endpoints of a tenant.
// A command that writes an event shares it. Therefore each event after the commit of a new endpoint
// is delivered to that endpoint.
func endpointsLock(t payment.Tenant) string { return "endpoints" + strconv.FormatInt(t.Merchant, 10) }

// targets returns the ids and types of the tenant's enabled endpoints.
func (tx *Tx) targets(tenant payment.Tenant) ([]payment.Endpoint, error) {
	if found, ok := tx.db.endpoints.find(tenant, tx.Now); ok {
		return found, nil
	}
	var found []payment.Endpoint
	err := tx.each(selectTargets,
		func(row Scanner) error {
			var e payment.Endpoint
			var types string
			if err := row.Scan(&e.ID, &types); err != nil {
				return fmt.Errorf("read webhook endpoint: %w", err)
			}
			e.Types = strings.Fields(types)
			found = append(found, e)
			return nil
		}, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	tx.db.endpoints.keep(tenant, found, tx.Now)
	return found, nil
}

// EndpointsFor returns the tenant's enabled endpoints that subscribe to events of a type. No other
// command changes the endpoints before this one ends.
func (tx *Tx) EndpointsFor(tenant payment.Tenant, kind string) ([]int64, error) {
	if err := tx.s.Lock(endpointsLock(tenant), true); err != nil {
		return nil, err
	}
	targets, err := tx.targets(tenant)
	if err != nil {
		return nil, err
	}
	return wanting(targets, kind), nil
}

// wanting returns the ids of the endpoints that subscribe to events of a type.
func wanting(targets []payment.Endpoint, kind string) []int64 {
	var out []int64
	for _, e := range targets {
		if e.Wants(kind) {
			out = append(out, e.ID)
		}
	}
	return out
}

// deliver inserts a delivery of each event to each endpoint that subscribes to it. The events are
// of one tenant, and the command has the lock of its endpoints.
func (tx *Tx) deliver(events ...*payment.Event) error {
	targets, err := tx.targets(events[0].Tenant)
	if err != nil {
		return err
	}
	var made []*payment.Delivery
	for _, e := range events {
		for _, endpoint := range wanting(targets, e.Type) {
			made = append(made, &payment.Delivery{Event: e.ID, Endpoint: endpoint})
		}
	}
	return tx.insertDeliveries(made)
}
