package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	insertMethod             = declare("insertMethod")
	updateMethod             = declare("updateMethod")
	replaceMethod            = declare("replaceMethod")
	overwriteMethod          = declare("overwriteMethod")
	detachMethod             = declare("detachMethod")
	overwriteMethods         = declare("overwriteMethods")
	detachMethods            = declare("detachMethods")
	selectMethod             = declare("selectMethod")
	lockMethod               = declare("lockMethod")
	selectUnannouncedMethods = declare("selectUnannouncedMethods")
	listMethods              = declareList("listMethods")
)

// InsertMethod attaches a payment method to its customer. It returns ErrDuplicate if the id is
// taken, ErrConflict if the customer has payment.MaxMethods already. It returns ErrKeyRetired if
// the vault's key that encrypted it is retired.
func (tx *Tx) InsertMethod(m *payment.Method) error {
	if err := tx.current(m.Sealed.Key); err != nil {
		return err
	}
	if err := tx.lock("methods", m.Customer); err != nil {
		return err
	}
	m.CreatedAt = tx.Now
	n, err := tx.execCount(insertMethod,
		m.ID, m.Tenant.Merchant, m.Tenant.Live, m.Customer, m.Kind, m.Fingerprint, string(m.Details), m.Sealed.Key,
		m.Sealed.Number, toMillis(m.CreatedAt), payment.MaxMethods, m.Client.APIKey, m.Client.Address)
	switch {
	case errors.Is(err, ErrDuplicate):
		return ErrDuplicate
	case err == nil && n == 0:
		return ErrConflict
	}
	return err
}

// UpdateMethod writes m.Details. The command must have locked the payment method by
// MethodForUpdate. It returns ErrConflict if it is not attached.
func (tx *Tx) UpdateMethod(m *payment.Method) error {
	return tx.execOne(updateMethod, string(m.Details), m.ID, m.Tenant.Merchant, m.Tenant.Live)
}

// ReplaceMethod is UpdateMethod, and also writes another number and its fingerprint and kind. It
// returns ErrKeyRetired if the vault's key that encrypted the number is retired.
func (tx *Tx) ReplaceMethod(m *payment.Method) error {
	if err := tx.current(m.Sealed.Key); err != nil {
		return err
	}
	// Overwrite the bytes first: see wipeTokens.
	err := tx.overwrite(overwriteMethod, m.ID, m.Tenant.Merchant, m.Tenant.Live)
	if err != nil {
		return err
	}
	return tx.execOne(replaceMethod,
		m.Kind, m.Fingerprint, string(m.Details), m.Sealed.Key, m.Sealed.Number, m.ID, m.Tenant.Merchant, m.Tenant.Live)
}

// DetachMethod detaches a payment method from its customer. It removes the number and the personal
// data of the row; m keeps the latter. It returns ErrConflict if it is not attached.
func (tx *Tx) DetachMethod(m *payment.Method) error {
	m.DetachedAt, m.Sealed.Number = tx.Now, nil
	// Overwrite the bytes first: see wipeTokens.
	err := tx.overwrite(overwriteMethod, m.ID, m.Tenant.Merchant, m.Tenant.Live)
	if err != nil {
		return err
	}
	return tx.execOne(detachMethod,
		toMillis(tx.Now), m.ID, m.Tenant.Merchant, m.Tenant.Live)
}

// Method reads one payment method of the tenant, detached or not, else ErrNotFound.
func (tx *Tx) Method(tenant payment.Tenant, id int64) (*payment.Method, error) {
	row, err := tx.row(selectMethod, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanMethod(row)
}

// MethodForUpdate is Method for a command that changes it: it locks the row.
func (tx *Tx) MethodForUpdate(tenant payment.Tenant, id int64) (*payment.Method, error) {
	row, err := tx.row(lockMethod, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanMethod(row)
}

// detachMethods is DetachMethod for all attached payment methods of a customer.
func (tx *Tx) detachMethods(customer int64) error {
	err := tx.overwrite(overwriteMethods, customer)
	if err == nil {
		_, err = tx.execCount(detachMethods, toMillis(tx.Now), customer)
	}
	return err
}

// UnannouncedMethods returns payment methods, by id, that the deletion of a customer has detached
// and that have no event of that yet.
func (tx *Tx) UnannouncedMethods(deleted *payment.Customer, limit int) ([]*payment.Method, error) {
	var out []*payment.Method
	err := tx.each(selectUnannouncedMethods, func(row Scanner) error {
		m, err := scanMethod(row)
		out = append(out, m)
		return err
	}, deleted.ID, toMillis(deleted.UpdatedAt), limit)
	return out, err
}

// Method reads one payment method of the tenant, detached or not, else ErrNotFound.
func (db *DB) Method(ctx context.Context, tenant payment.Tenant, id int64) (*payment.Method, error) {
	return scanMethod(db.rowOf(ctx, tenant, selectMethod, id, tenant.Merchant, tenant.Live))
}

// Methods lists the payment methods attached to a customer that match the filter, newest first.
func (db *DB) Methods(
	ctx context.Context, tenant payment.Tenant, customer int64, f payment.MethodFilter, p payment.Page,
) (payment.List[*payment.Method], error) {
	return list(ctx, db, tenant, listMethods, p, scanMethod,
		customer, tenant.Merchant, tenant.Live, f.Fingerprint, entries(f.Metadata))
}

func scanMethod(row Scanner) (*payment.Method, error) {
	var (
		m                 payment.Method
		created, detached int64
	)
	err := row.Scan(&m.ID, &m.Tenant.Merchant, &m.Tenant.Live, &m.Customer, &m.Kind, &m.Fingerprint, &m.Details,
		&m.Sealed.Key, &m.Sealed.Number, &created, &detached)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read payment method: %w", err)
	}
	m.CreatedAt, m.DetachedAt = fromMillis(created), fromMillis(detached)
	return &m, nil
}
