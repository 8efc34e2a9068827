package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	insertCustomer                   = declare("insertCustomer")
	updateCustomer                   = declare("updateCustomer")
	deleteCustomer                   = declare("deleteCustomer")
	selectCustomer                   = declare("selectCustomer")
	lockCustomer                     = declare("lockCustomer")
	listCustomers                    = declareList("listCustomers")
	listCustomersByMetadata          = declareList("listCustomersByMetadata")
	listCustomersByReference         = declareList("listCustomersByReference")
	listCustomersByEmail             = declareList("listCustomersByEmail")
	listCustomersByReferenceAndEmail = declareList("listCustomersByReferenceAndEmail")
)

// InsertCustomer inserts a customer as version 1. It returns ErrDuplicate if the id is taken.
func (tx *Tx) InsertCustomer(c *payment.Customer) error {
	c.Version, c.CreatedAt, c.UpdatedAt = 1, tx.Now, tx.Now
	return tx.insert(insertCustomer,
		c.ID, c.Tenant.Merchant, c.Tenant.Live, string(c.Details), c.Version, toMillis(c.CreatedAt), toMillis(c.UpdatedAt),
		c.Client.APIKey, c.Client.Address)
}

// UpdateCustomer writes c.Details and c.Default as the next version. The command must have locked
// the customer by CustomerForUpdate. It returns ErrConflict if there is no such customer.
func (tx *Tx) UpdateCustomer(c *payment.Customer) error {
	c.Version, c.UpdatedAt = c.Version+1, tx.Now
	return tx.execOne(updateCustomer,
		string(c.Details), c.Default, c.Version, toMillis(c.UpdatedAt), c.ID, c.Tenant.Merchant, c.Tenant.Live)
}

// DeleteCustomer removes the data of a customer and hides it, as its last version. It returns
// ErrConflict if there is no such customer, or it has another version than c.
func (tx *Tx) DeleteCustomer(c *payment.Customer) error {
	c.Details, c.Default, c.Version, c.UpdatedAt = []byte("{}"), 0, c.Version+1, tx.Now
	return tx.execOne(deleteCustomer,
		toMillis(tx.Now), c.Version, c.ID, c.Tenant.Merchant, c.Tenant.Live)
}

// Customer reads one customer of the tenant, else ErrNotFound.
func (tx *Tx) Customer(tenant payment.Tenant, id int64) (*payment.Customer, error) {
	row, err := tx.row(selectCustomer, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanCustomer(row)
}

// CustomerForUpdate is Customer for a command that changes it: it locks the row.
func (tx *Tx) CustomerForUpdate(tenant payment.Tenant, id int64) (*payment.Customer, error) {
	row, err := tx.row(lockCustomer, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanCustomer(row)
}

// Customer reads one customer of the tenant, else ErrNotFound.
func (db *DB) Customer(ctx context.Context, tenant payment.Tenant, id int64) (*payment.Customer, error) {
	return scanCustomer(db.rowOf(ctx, tenant, selectCustomer, id, tenant.Merchant, tenant.Live))
}

// Customers lists the tenant's customers that match the filter, newest first.
func (db *DB) Customers(
	ctx context.Context, tenant payment.Tenant, f payment.CustomerFilter, p payment.Page,
) (payment.List[*payment.Customer], error) {
	// Each filter has a statement that uses the filter's index.
	switch {
	case f.Reference != "" && f.Email != "":
		return list(ctx, db, tenant, listCustomersByReferenceAndEmail, p, scanCustomer, tenant.Merchant,
			tenant.Live, f.Reference, f.Email, entries(f.Metadata))
	case f.Reference != "":
		return list(ctx, db, tenant, listCustomersByReference, p, scanCustomer, tenant.Merchant, tenant.Live,
			f.Reference, entries(f.Metadata))
	case f.Email != "":
		return list(ctx, db, tenant, listCustomersByEmail, p, scanCustomer, tenant.Merchant, tenant.Live, f.Email,
			entries(f.Metadata))
	case f.Metadata != "":
		return list(ctx, db, tenant, listCustomersByMetadata, p, scanCustomer, tenant.Merchant, tenant.Live,
			entries(f.Metadata))
	}
	return list(ctx, db, tenant, listCustomers, p, scanCustomer, tenant.Merchant, tenant.Live)
}

func scanCustomer(row Scanner) (*payment.Customer, error) {
	var (
		c                payment.Customer
		created, updated int64
	)
	err := row.Scan(&c.ID, &c.Tenant.Merchant, &c.Tenant.Live, &c.Details, &c.Version, &created, &updated, &c.Default)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read customer: %w", err)
	}
	c.CreatedAt, c.UpdatedAt = fromMillis(created), fromMillis(updated)
	return &c, nil
}
