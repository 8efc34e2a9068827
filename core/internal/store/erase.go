package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// Stamp changes whenever an event of a customer, or of one of its payment methods, is written.
type Stamp struct{ version, methods, detached int64 }

const customerStamp = `SELECT version, (SELECT COUNT(*) FROM payment_methods m WHERE m.customer_id = customers.id),
		(SELECT COUNT(*) FROM payment_methods m WHERE m.customer_id = customers.id AND m.detached_at > 0)
	FROM customers WHERE id = ? AND merchant_id = ? AND live = ? AND deleted_at = 0`

func scanStamp(row Scanner) (s Stamp, err error) {
	err = row.Scan(&s.version, &s.methods, &s.detached)
	if errors.Is(err, sql.ErrNoRows) {
		return s, ErrNotFound
	}
	if err != nil {
		return s, fmt.Errorf("read customer: %w", err)
	}
	return s, nil
}

// CustomerStamp reads the stamp of a customer of the tenant, else ErrNotFound.
func (tx *Tx) CustomerStamp(tenant payment.Tenant, customer int64) (Stamp, error) {
	row, err := tx.locked(customerStamp, customer, tenant.Merchant, tenant.Live)
	if err != nil {
		return Stamp{}, err
	}
	return scanStamp(row)
}

// CustomerEvents lists the events of a customer and of its payment methods, oldest first, all of
// them while the stamp stays the same. It reads these events alone. ErrNotFound if the tenant has
// no such customer.
func (db *DB) CustomerEvents(ctx context.Context, tenant payment.Tenant, customer int64) (Stamp, []*Event, error) {
	s, err := db.query(ctx, customerStamp)
	if err != nil {
		return Stamp{}, nil, err
	}
	stamp, err := scanStamp(s.Row(ctx, customer, tenant.Merchant, tenant.Live))
	if err != nil {
		return stamp, nil, err
	}
	found, err := collect(ctx, db, customerEvents, scanEvent, tenant.Merchant, tenant.Live, customer)
	return stamp, found, err
}

// The condition on the type is the one of the index, word by word.
const customerEvents = `SELECT ` + eventColumns + ` FROM events INDEXED BY events_of_customers
	WHERE (substr(type, 1, 9) = 'customer.' OR substr(type, 1, 15) = 'payment_method.')
		AND object_id IN (SELECT ?3 UNION ALL SELECT id FROM payment_methods WHERE customer_id = ?3)
		AND merchant_id = ?1 AND live = ?2
	ORDER BY id`

// RewriteEvent puts other data in the place of an event's.
func (tx *Tx) RewriteEvent(id int64, data []byte) error {
	return tx.change(`UPDATE events SET data = ? WHERE id = ?`, string(data), id)
}

// EraseMethods empties all payment methods of a customer, which are detached.
func (tx *Tx) EraseMethods(customer int64) error {
	return tx.exec(`UPDATE payment_methods SET details = '{}', fingerprint = '', client_address = '' WHERE customer_id = ? AND detached_at > 0`, customer)
}
