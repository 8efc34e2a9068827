package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var selectTargets = declare("selectTargets")

// A store that alone writes remembers which endpoints each tenant has, so that an event of a tenant without any costs no statement. That is exact
// for what this process changes: endpoints are changed by its commands, which forget the tenant, and again when the command is rolled back. A
// change by another process is felt after targetTime; the service that holds the data folder is the only one that changes endpoints.
const (
	targetTime = 5 * time.Second
	maxTargets = 65536 // tenants
)

// target is an enabled endpoint as far as events must know it.
type target struct {
	endpoint int64
	types    []string
}

func (t target) wants(kind string) bool {
	return slices.Contains(t.types, kind) || slices.Contains(t.types, payment.AllEventTypes)
}

// known are the targets of one tenant.
type known struct {
	targets []target
	at      time.Time
}

// targetCache is used by one command at a time. Nil remembers nothing.
type targetCache struct {
	known   map[payment.Tenant]known
	changed []payment.Tenant // whose endpoints are changed by commands that are not committed
}

func newTargetCache() *targetCache { return &targetCache{known: map[payment.Tenant]known{}} }

func (c *targetCache) find(tenant payment.Tenant, now time.Time) ([]target, bool) {
	if c == nil {
		return nil, false
	}
	k, ok := c.known[tenant]
	if age := now.Sub(k.at); !ok || age < 0 || age >= targetTime {
		return nil, false
	}
	return k.targets, true
}

func (c *targetCache) keep(tenant payment.Tenant, found []target, now time.Time) {
	if c == nil {
		return
	}
	if len(c.known) >= maxTargets {
		clear(c.known)
	}
	c.known[tenant] = known{found, now}
}

// forget drops what is known of a tenant whose endpoints a command changes.
func (c *targetCache) forget(tenant payment.Tenant) {
	if c == nil {
		return
	}
	delete(c.known, tenant)
	c.changed = append(c.changed, tenant)
}

// undone drops what was learned of endpoints that a rollback has taken back.
func (c *targetCache) undone() {
	for _, tenant := range c.changed {
		delete(c.known, tenant)
	}
}

// settled ends a group.
func (c *targetCache) settled() { c.changed = c.changed[:0] }

// targets returns the tenant's enabled endpoints.
func (tx *Tx) targets(tenant payment.Tenant) ([]target, error) {
	if found, ok := tx.db.targets.find(tenant, tx.Now); ok {
		return found, nil
	}
	var found []target
	err := tx.each(selectTargets,
		func(row Scanner) error {
			var t target
			var types string
			if err := row.Scan(&t.endpoint, &types); err != nil {
				return fmt.Errorf("read webhook endpoint: %w", err)
			}
			t.types = strings.Fields(types)
			found = append(found, t)
			return nil
		}, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	tx.db.targets.keep(tenant, found, tx.Now)
	if tx.db.shared {
		tx.db.seen.keep(tenant, found)
	}
	return found, nil
}

// EndpointsFor returns the tenant's enabled endpoints that want events of a type. No other command
// changes them before this one ends.
func (tx *Tx) EndpointsFor(tenant payment.Tenant, kind string) ([]int64, error) {
	if err := tx.s.Lock(endpointsOf(tenant), true); err != nil {
		return nil, err
	}
	return tx.wanting(tenant, kind)
}

// wanting is EndpointsFor in a command that shares the lock of the tenant's endpoints already.
func (tx *Tx) wanting(tenant payment.Tenant, kind string) ([]int64, error) {
	targets, err := tx.targets(tenant)
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, t := range targets {
		if t.wants(kind) {
			out = append(out, t.endpoint)
		}
	}
	return out, nil
}

// deliver writes a delivery of e to each endpoint that wants it.
func (tx *Tx) deliver(e *payment.Event) error {
	endpoints, err := tx.wanting(e.Tenant, e.Type)
	if err != nil {
		return err
	}
	for _, endpoint := range endpoints {
		if _, err := tx.InsertDelivery(e.ID, endpoint); err != nil {
			return err
		}
	}
	return nil
}
