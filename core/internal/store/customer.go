package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

const customerColumns = `id, merchant_id, live, details, version, created_at, updated_at, default_method_id`

// A deleted customer does not exist for anybody.
const customerByID = `SELECT ` + customerColumns + ` FROM customers WHERE id = ? AND merchant_id = ? AND live = ? AND deleted_at = 0`

// InsertCustomer writes a customer in its first version. ErrDuplicate when the id is taken.
func (tx *Tx) InsertCustomer(c *payment.Customer) error {
	c.Version, c.CreatedAt, c.UpdatedAt = 1, tx.Now, tx.Now
	return tx.insert(`INSERT INTO customers
		(id, merchant_id, live, details, version, created_at, updated_at, api_key_id, client_address)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.ID, c.Tenant.Merchant, c.Tenant.Live, string(c.Details), c.Version, toMillis(c.CreatedAt), toMillis(c.UpdatedAt),
		c.Client.APIKey, c.Client.Address)
}

// UpdateCustomer writes c.Details and c.Default as the next version. ErrConflict when there is no such customer.
func (tx *Tx) UpdateCustomer(c *payment.Customer) error {
	c.Version, c.UpdatedAt = c.Version+1, tx.Now
	return tx.change(`UPDATE customers SET details = ?, default_method_id = ?, version = ?, updated_at = ?
		WHERE id = ? AND merchant_id = ? AND live = ? AND deleted_at = 0`,
		string(c.Details), c.Default, c.Version, toMillis(c.UpdatedAt), c.ID, c.Tenant.Merchant, c.Tenant.Live)
}

// DeleteCustomer empties and hides a customer, which is its last version. ErrConflict if there is
// no such customer, or it has another version than c.
func (tx *Tx) DeleteCustomer(c *payment.Customer) error {
	c.Details, c.Default, c.Version, c.UpdatedAt = []byte("{}"), 0, c.Version+1, tx.Now
	return tx.change(`UPDATE customers SET details = '{}', client_address = '', deleted_at = ?1, default_method_id = 0,
			version = ?2, updated_at = ?1
		WHERE id = ?3 AND merchant_id = ?4 AND live = ?5 AND deleted_at = 0 AND version = ?2 - 1`,
		toMillis(tx.Now), c.Version, c.ID, c.Tenant.Merchant, c.Tenant.Live)
}

// Customer reads one customer of the tenant, else ErrNotFound.
func (tx *Tx) Customer(tenant payment.Tenant, id int64) (*payment.Customer, error) {
	row, err := tx.row(customerByID, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanCustomer(row)
}

// CustomerForUpdate is Customer for a command that changes it.
func (tx *Tx) CustomerForUpdate(tenant payment.Tenant, id int64) (*payment.Customer, error) {
	row, err := tx.locked(customerByID, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanCustomer(row)
}

// Customer reads one customer of the tenant, else ErrNotFound.
func (db *DB) Customer(ctx context.Context, tenant payment.Tenant, id int64) (*payment.Customer, error) {
	s, err := db.query(ctx, customerByID)
	if err != nil {
		return nil, err
	}
	return scanCustomer(s.Row(ctx, id, tenant.Merchant, tenant.Live))
}

// Customers lists those of the tenant's customers that the filter lets through, newest first.
func (db *DB) Customers(ctx context.Context, tenant payment.Tenant, f payment.CustomerFilter, p payment.Page) (payment.List[*payment.Customer], error) {
	// A text of its own for each filter, in the words of its index: customers are looked up by these.
	query := `SELECT ` + customerColumns + ` FROM customers WHERE merchant_id = ? AND live = ? AND deleted_at = 0`
	args := []any{tenant.Merchant, tenant.Live}
	if f.Reference != "" {
		query += ` AND details ->> '$.reference' = ?`
		args = append(args, f.Reference)
	}
	if f.Email != "" {
		query += ` AND details ->> '$.email' = ?`
		args = append(args, f.Email)
	}
	return list(ctx, db, query, p, scanCustomer, args...)
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
