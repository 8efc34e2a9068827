package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// The writer remembers which endpoints each tenant has, so that an event of a tenant without any costs no statement. That is exact for
// what this process changes: endpoints are changed through this very writer, which forgets the tenant in the same command, and again
// when the command is rolled back. A change by another process is felt after targetTime; the service that holds the data folder is
// the only one that changes endpoints.
const (
	targetTime = 5 * time.Second
	maxTargets = 65536 // tenants
)

// target is an enabled endpoint as far as the writer must know it.
type target struct {
	endpoint int64
	types    []string
}

func (t target) wants(kind string) bool {
	return slices.Contains(t.types, kind) || slices.Contains(t.types, AllTypes)
}

// known are the targets of one tenant.
type known struct {
	targets []target
	at      time.Time
}

// targets returns the tenant's enabled endpoints.
func (tx *Tx) targets(tenant payment.Tenant) ([]target, error) {
	if k, ok := tx.w.known[tenant]; ok {
		if age := tx.Now.Sub(k.at); age >= 0 && age < targetTime {
			return k.targets, nil
		}
	}
	if len(tx.w.known) >= maxTargets {
		clear(tx.w.known)
	}
	s, err := tx.w.stmt(`SELECT id, types FROM webhook_endpoints WHERE merchant_id = ? AND live = ? AND status = 'enabled' ORDER BY id`)
	if err != nil {
		return nil, err
	}
	var found []target
	err = s.each(context.Background(), func(row scanner) error {
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
	tx.w.known[tenant] = known{found, tx.Now}
	return found, nil
}

// EndpointsFor returns the tenant's enabled endpoints that want events of a type.
func (tx *Tx) EndpointsFor(tenant payment.Tenant, kind string) ([]int64, error) {
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

// forget drops what is known of a tenant whose endpoints this command changes.
func (tx *Tx) forget(tenant payment.Tenant) {
	delete(tx.w.known, tenant)
	tx.w.changed = append(tx.w.changed, tenant)
}

// undone drops what was learned of endpoints that a rollback has taken back.
func (w *writer) undone() {
	for _, tenant := range w.changed {
		delete(w.known, tenant)
	}
}

// deliver writes a delivery of e to each endpoint that wants it.
func (tx *Tx) deliver(e *Event) error {
	endpoints, err := tx.EndpointsFor(e.Tenant, e.Type)
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
