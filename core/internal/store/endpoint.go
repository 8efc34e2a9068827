package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

const endpointColumns = `id, merchant_id, live, url, types, details, status, reason, generation, overlap_until, failing_since, version,
	created_at, updated_at`

// InsertEndpoint writes a new endpoint and fills in its times. ErrDuplicate when the id is taken.
func (tx *Tx) InsertEndpoint(e *payment.Endpoint) error {
	if err := tx.s.Lock(endpointsOf(e.Tenant), false); err != nil {
		return err
	}
	e.CreatedAt, e.UpdatedAt = tx.Now, tx.Now
	tx.db.targets.forget(e.Tenant)
	return tx.insert(`INSERT INTO webhook_endpoints (`+endpointColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.ID, e.Tenant.Merchant, e.Tenant.Live, e.URL, strings.Join(e.Types, " "), string(e.Details), string(e.Status), string(e.Reason),
		e.Generation, toMillis(e.OverlapUntil), toMillis(e.FailingSince), e.Version, toMillis(e.CreatedAt), toMillis(e.UpdatedAt))
}

// UpdateEndpoint writes all of e, whose Version counts up, over the version it was read at. ErrConflict when that is not the
// stored one.
func (tx *Tx) UpdateEndpoint(e *payment.Endpoint) error {
	if err := tx.s.Lock(endpointsOf(e.Tenant), false); err != nil {
		return err
	}
	tx.db.targets.forget(e.Tenant)
	e.UpdatedAt, e.Version = tx.Now, e.Version+1
	return tx.change(`UPDATE webhook_endpoints SET url = ?, types = ?, details = ?, status = ?, reason = ?, generation = ?, overlap_until = ?,
			failing_since = ?, version = ?, updated_at = ?
		WHERE id = ? AND merchant_id = ? AND live = ? AND version = ? AND status <> 'deleted'`,
		e.URL, strings.Join(e.Types, " "), string(e.Details), string(e.Status), string(e.Reason), e.Generation, toMillis(e.OverlapUntil),
		toMillis(e.FailingSince), e.Version, toMillis(e.UpdatedAt), e.ID, e.Tenant.Merchant, e.Tenant.Live, e.Version-1)
}

// DeleteEndpoint deletes e, as UpdateEndpoint changes it, and removes up to purgeBatch of its
// deliveries, the pending ones first. If deliveries remain, or the store refuses to remove one, the
// endpoint stays as deleted until PurgeEndpoints has removed them.
func (tx *Tx) DeleteEndpoint(e *payment.Endpoint) error {
	e.Status, e.Reason = payment.EndpointDeleted, ""
	if err := tx.UpdateEndpoint(e); err != nil {
		return err
	}
	_ = tx.whole(func() error { return tx.removeDeliveries(e.ID) }) // PurgeEndpoints reports the refused row
	return nil
}

// removeDeliveries removes up to purgeBatch deliveries to a deleted endpoint, the pending ones first,
// and the endpoint if it has none left.
func (tx *Tx) removeDeliveries(endpoint int64) error {
	left := int64(purgeBatch)
	for _, of := range []string{
		`INDEXED BY webhook_deliveries_due WHERE endpoint_id = ? AND status = 'pending'`,
		`INDEXED BY webhook_deliveries_by_endpoint WHERE endpoint_id = ?`,
	} {
		// Without the rows that another command has locked: that command locks the endpoint next.
		n, err := tx.changed(`WITH gone AS MATERIALIZED (
				SELECT id FROM webhook_deliveries `+of+` LIMIT ?`+tx.s.Dialect().Skip+`)
			DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM gone)`, endpoint, left)
		if err != nil {
			return err
		}
		left -= n
	}
	return tx.exec(`DELETE FROM webhook_endpoints WHERE id = ? AND `+emptyEndpoint, endpoint)
}

// emptyEndpoint limits endpoints to the deleted ones without deliveries.
const emptyEndpoint = `status = 'deleted'
	AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.endpoint_id = webhook_endpoints.id)`

// CountEndpoints returns how many endpoints the tenant has, and how many deleted ones have deliveries
// left. No other command changes them before this one ends.
func (tx *Tx) CountEndpoints(tenant payment.Tenant) (n, deleted int, err error) {
	if err := tx.s.Lock(endpointsOf(tenant), false); err != nil {
		return 0, 0, err
	}
	row, err := tx.row(`SELECT COUNT(CASE WHEN status <> 'deleted' THEN 1 END),
			COUNT(CASE WHEN status = 'deleted' THEN 1 END)
		FROM webhook_endpoints WHERE merchant_id = ? AND live = ?`, tenant.Merchant, tenant.Live)
	if err != nil {
		return 0, 0, err
	}
	if err := row.Scan(&n, &deleted); err != nil {
		return 0, 0, fmt.Errorf("count webhook endpoints: %w", err)
	}
	return n, deleted, nil
}

const oneEndpoint = `SELECT ` + endpointColumns + ` FROM webhook_endpoints WHERE id = ? AND merchant_id = ? AND live = ? AND status <> 'deleted'`

// Endpoint reads one endpoint of the tenant for a command that changes it, else ErrNotFound.
func (tx *Tx) Endpoint(tenant payment.Tenant, id int64) (*payment.Endpoint, error) {
	row, err := tx.locked(oneEndpoint, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanEndpoint(row)
}

// Endpoint reads one endpoint of the tenant, else ErrNotFound.
func (db *DB) Endpoint(ctx context.Context, tenant payment.Tenant, id int64) (*payment.Endpoint, error) {
	s, err := db.query(ctx, oneEndpoint)
	if err != nil {
		return nil, err
	}
	return scanEndpoint(s.Row(ctx, id, tenant.Merchant, tenant.Live))
}

// Endpoints lists the tenant's endpoints, newest first.
func (db *DB) Endpoints(ctx context.Context, tenant payment.Tenant, p payment.Page) (payment.List[*payment.Endpoint], error) {
	return list(ctx, db, `SELECT `+endpointColumns+` FROM webhook_endpoints WHERE merchant_id = ? AND live = ? AND status <> 'deleted'`,
		p, scanEndpoint, tenant.Merchant, tenant.Live)
}

// PurgeEndpoints removes the deliveries of deleted endpoints, and the deleted endpoints that have none
// left. It returns the number of deliveries.
func (db *DB) PurgeEndpoints(ctx context.Context) (purged int64, err error) {
	deleted, err := collect(ctx, db, `SELECT id FROM webhook_endpoints WHERE status = 'deleted' ORDER BY id`, scanNumber)
	if err != nil {
		return 0, err
	}
	pass := db.BeginPass(PassPurge)
	for _, endpoint := range deleted {
		n, err := db.purgeDeliveriesTo(ctx, pass, endpoint)
		purged += n
		if err != nil {
			return purged, err
		}
	}
	_, err = Rows[int64]{Kind: "webhook_endpoints", ID: idOf}.purge(ctx, pass, func(after int64) ([]int64, error) {
		return collect(ctx, db, `SELECT id FROM webhook_endpoints WHERE `+emptyEndpoint+` AND id > ? ORDER BY id LIMIT ?`,
			scanNumber, after, purgeBatch)
	}, func(tx *Tx, part []int64) (int64, error) {
		first, last := span(part)
		return tx.changed(`DELETE FROM webhook_endpoints WHERE id >= ? AND id <= ? AND `+emptyEndpoint, first, last)
	})
	return purged, err
}

// purgeDeliveriesTo removes the deliveries to a deleted endpoint, and returns how many.
func (db *DB) purgeDeliveriesTo(ctx context.Context, pass *Pass, endpoint int64) (int64, error) {
	return Rows[int64]{Kind: "webhook_deliveries", ID: idOf}.purge(ctx, pass, func(after int64) ([]int64, error) {
		return collect(ctx, db, `SELECT id FROM webhook_deliveries WHERE endpoint_id = ? AND id > ? ORDER BY id LIMIT ?`,
			scanNumber, endpoint, after, purgeBatch)
	}, func(tx *Tx, part []int64) (int64, error) {
		first, last := span(part)
		return tx.changed(`DELETE FROM webhook_deliveries WHERE endpoint_id = ? AND id >= ? AND id <= ?`,
			endpoint, first, last)
	})
}

func scanEndpoint(row Scanner) (*payment.Endpoint, error) {
	var (
		e                                  payment.Endpoint
		types                              string
		overlap, failing, created, updated int64
	)
	err := row.Scan(&e.ID, &e.Tenant.Merchant, &e.Tenant.Live, &e.URL, &types, &e.Details, &e.Status, &e.Reason, &e.Generation, &overlap,
		&failing, &e.Version, &created, &updated)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read webhook endpoint: %w", err)
	}
	e.Types = strings.Fields(types)
	e.OverlapUntil, e.FailingSince = fromMillis(overlap), fromMillis(failing)
	e.CreatedAt, e.UpdatedAt = fromMillis(created), fromMillis(updated)
	return &e, nil
}
