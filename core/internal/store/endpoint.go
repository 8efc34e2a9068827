package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

var (
	insertEndpoint            = declare("insertEndpoint")
	updateEndpoint            = declare("updateEndpoint")
	deleteEmptyEndpoint       = declare("deleteEmptyEndpoint")
	countEndpoints            = declare("countEndpoints")
	lockEndpoint              = declare("lockEndpoint")
	selectEndpoint            = declare("selectEndpoint")
	listEndpoints             = declareList("listEndpoints")
	selectDeletedEndpoints    = declare("selectDeletedEndpoints")
	selectEmptyEndpoints      = declare("selectEmptyEndpoints")
	deleteEmptyEndpoints      = declare("deleteEmptyEndpoints")
	selectDeliveriesTo        = declare("selectDeliveriesTo")
	deleteDeliveriesTo        = declare("deleteDeliveriesTo")
	deletePendingDeliveriesTo = declare("deletePendingDeliveriesTo")
	deleteOtherDeliveriesTo   = declare("deleteOtherDeliveriesTo")
)

// InsertEndpoint writes a new endpoint and fills in its times. It returns ErrDuplicate if the id is
// taken.
func (tx *Tx) InsertEndpoint(e *payment.Endpoint) error {
	if err := tx.s.Lock(endpointsLock(e.Tenant), false); err != nil {
		return err
	}
	e.CreatedAt, e.UpdatedAt = tx.Now, tx.Now
	tx.db.endpoints.forget(e.Tenant)
	return tx.insert(insertEndpoint,
		e.ID, e.Tenant.Merchant, e.Tenant.Live, e.URL, strings.Join(e.Types, " "), string(e.Details), string(e.Status),
		string(e.Reason), e.Generation, toMillis(e.OverlapUntil), toMillis(e.FailingSince), e.Version,
		toMillis(e.CreatedAt), toMillis(e.UpdatedAt))
}

// UpdateEndpoint replaces the stored endpoint by e and increments e.Version. It returns ErrConflict
// if the stored version differs from e's, or the endpoint is deleted.
func (tx *Tx) UpdateEndpoint(e *payment.Endpoint) error {
	if err := tx.s.Lock(endpointsLock(e.Tenant), false); err != nil {
		return err
	}
	tx.db.endpoints.forget(e.Tenant)
	e.UpdatedAt, e.Version = tx.Now, e.Version+1
	return tx.execOne(updateEndpoint,
		e.URL, strings.Join(e.Types, " "), string(e.Details), string(e.Status), string(e.Reason), e.Generation,
		toMillis(e.OverlapUntil), toMillis(e.FailingSince), e.Version, toMillis(e.UpdatedAt), e.ID, e.Tenant.Merchant,
		e.Tenant.Live, e.Version-1)
}

// DeleteEndpoint marks e as deleted, with the errors of UpdateEndpoint, and removes up to
// purgeBatch of its deliveries, the pending ones first. If deliveries remain, or the database
// refuses to remove one, the row of the endpoint stays until PurgeEndpoints has removed them.
func (tx *Tx) DeleteEndpoint(e *payment.Endpoint) error {
	e.Status, e.Reason = payment.EndpointDeleted, ""
	if err := tx.UpdateEndpoint(e); err != nil {
		return err
	}
	_ = tx.savepoint(func() error { return tx.removeDeliveries(e.ID) }) // PurgeEndpoints reports the refused row
	return nil
}

// removeDeliveries removes up to purgeBatch deliveries to a deleted endpoint, the pending ones
// first. It removes the endpoint if no delivery is left.
func (tx *Tx) removeDeliveries(endpoint int64) error {
	left := int64(purgeBatch)
	for _, s := range []*Statement{deletePendingDeliveriesTo, deleteOtherDeliveriesTo} {
		n, err := tx.execCount(s, endpoint, left)
		if err != nil {
			return err
		}
		left -= n
	}
	return tx.exec(deleteEmptyEndpoint, endpoint)
}

// CountEndpoints returns how many endpoints the tenant has, and how many deleted endpoints still
// have deliveries. No other command changes them before this one ends.
func (tx *Tx) CountEndpoints(tenant payment.Tenant) (n, deleted int, err error) {
	if err := tx.s.Lock(endpointsLock(tenant), false); err != nil {
		return 0, 0, err
	}
	row, err := tx.row(countEndpoints, tenant.Merchant, tenant.Live)
	if err != nil {
		return 0, 0, err
	}
	if err := row.Scan(&n, &deleted); err != nil {
		return 0, 0, fmt.Errorf("count webhook endpoints: %w", err)
	}
	return n, deleted, nil
}

// Endpoint reads one endpoint of the tenant and locks its row until the command ends, else
// ErrNotFound.
func (tx *Tx) Endpoint(tenant payment.Tenant, id int64) (*payment.Endpoint, error) {
	row, err := tx.row(lockEndpoint, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanEndpoint(row)
}

// Endpoint reads one endpoint of the tenant, else ErrNotFound.
func (db *DB) Endpoint(ctx context.Context, tenant payment.Tenant, id int64) (*payment.Endpoint, error) {
	return scanEndpoint(db.rowOf(ctx, tenant, selectEndpoint, id, tenant.Merchant, tenant.Live))
}

// Endpoints lists the tenant's endpoints, newest first.
func (db *DB) Endpoints(
	ctx context.Context, tenant payment.Tenant, f payment.MetadataFilter, p payment.Page,
) (payment.List[*payment.Endpoint], error) {
	return list(ctx, db, tenant, listEndpoints,
		p, scanEndpoint, tenant.Merchant, tenant.Live, entries(f))
}

// PurgeEndpoints removes the deliveries of deleted endpoints, then the deleted endpoints without
// deliveries. It returns the number of deliveries.
func (db *DB) PurgeEndpoints(ctx context.Context) (purged int64, err error) {
	deleted, err := backgroundRows(ctx, db, selectDeletedEndpoints, scanNumber)
	if err != nil {
		return 0, err
	}
	p := db.BeginPass(pass.Purge)
	for _, endpoint := range deleted {
		n, err := db.purgeDeliveriesTo(ctx, p, endpoint)
		purged += n
		if err != nil {
			return purged, err
		}
	}
	rows := pass.Rows[int64]{Kind: "webhook_endpoints", ID: idOf}
	_, err = purge(ctx, db, p, rows, func(after int64) ([]int64, error) {
		return backgroundRows(ctx, db, selectEmptyEndpoints,
			scanNumber, after, purgeBatch)
	}, func(tx *Tx, chunk []int64) (int64, error) {
		first, last := span(chunk)
		return tx.execCount(deleteEmptyEndpoints, first, last)
	})
	return purged, err
}

// purgeDeliveriesTo removes the deliveries to a deleted endpoint and returns how many.
func (db *DB) purgeDeliveriesTo(ctx context.Context, p *pass.Pass, endpoint int64) (int64, error) {
	rows := pass.Rows[int64]{Kind: "webhook_deliveries", ID: idOf}
	return purge(ctx, db, p, rows, func(after int64) ([]int64, error) {
		return backgroundRows(ctx, db, selectDeliveriesTo,
			scanNumber, endpoint, after, purgeBatch)
	}, func(tx *Tx, chunk []int64) (int64, error) {
		first, last := span(chunk)
		return tx.execCount(deleteDeliveriesTo,
			endpoint, first, last)
	})
}

func scanEndpoint(row Scanner) (*payment.Endpoint, error) {
	var (
		e                                  payment.Endpoint
		types                              string
		overlap, failing, created, updated int64
	)
	err := row.Scan(&e.ID, &e.Tenant.Merchant, &e.Tenant.Live, &e.URL, &types, &e.Details, &e.Status, &e.Reason,
		&e.Generation, &overlap, &failing, &e.Version, &created, &updated)
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
