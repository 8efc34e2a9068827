package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	insertMerchant   = declare("insertMerchant")
	updateMerchant   = declare("updateMerchant")
	setKeepCustomers = declare("setKeepCustomers")
	setKeepPersonal  = declare("setKeepPersonal")
	deleteErasures   = declare("deleteErasures")
	disableMerchant  = declare("disableMerchant")
	selectMerchant   = declare("selectMerchant")
	lockMerchant     = declare("lockMerchant")
	selectMerchants  = declare("selectMerchants")
	listMerchants    = declareList("listMerchants")
	listMerchantKeys = declareList("listMerchantKeys")
)

// InsertMerchant inserts a merchant whose day ends at midnight UTC. It returns ErrDuplicate if the
// id is taken.
func (tx *Tx) InsertMerchant(id int64, name string) error {
	return tx.insert(insertMerchant, id, name, toMillis(tx.Now))
}

// UpdateMerchant changes the fields of a merchant that c sets. It returns ErrConflict if there is
// no such merchant.
func (tx *Tx) UpdateMerchant(id int64, c payment.MerchantChange) error {
	var allowed any
	if c.UnlinkedRefunds != nil {
		allowed = *c.UnlinkedRefunds
	}
	if err := tx.setRetention(id, c); err != nil {
		return err
	}
	return tx.execOne(updateMerchant, c.Name, c.TimeZone, c.Cutoff, allowed, id)
}

// setRetention changes the retention periods of a merchant. Erasures by age begin again, because
// they have passed rows that the new period may contain.
func (tx *Tx) setRetention(id int64, c payment.MerchantChange) error {
	if c.Customers != nil {
		if err := tx.exec(setKeepCustomers, *c.Customers, id); err != nil {
			return err
		}
	}
	if c.Personal == nil {
		return nil
	}
	if err := tx.lock(erasuresLock, 0); err != nil {
		return err
	}
	if err := tx.exec(setKeepPersonal, *c.Personal, id); err != nil {
		return err
	}
	return tx.exec(deleteErasures)
}

// DisableMerchant takes a merchant out of service, or puts it back into service. It keeps the time
// of an earlier call with the same effect. It returns ErrConflict if there is no such merchant.
func (tx *Tx) DisableMerchant(id int64, disabled bool) error {
	return tx.execOne(disableMerchant,
		disabled, toMillis(tx.Now), id)
}

// Merchant reads one merchant as part of the command, else ErrNotFound.
func (tx *Tx) Merchant(id int64) (payment.Merchant, error) {
	row, err := tx.row(selectMerchant, id)
	if err != nil {
		return payment.Merchant{}, err
	}
	return scanMerchant(row)
}

// LockedMerchant reads one merchant and locks its row until the command ends, else ErrNotFound.
func (tx *Tx) LockedMerchant(id int64) (payment.Merchant, error) {
	row, err := tx.row(lockMerchant, id)
	if err != nil {
		return payment.Merchant{}, err
	}
	return scanMerchant(row)
}

// Merchant reads one merchant, else ErrNotFound.
func (db *DB) Merchant(ctx context.Context, id int64) (payment.Merchant, error) {
	return scanMerchant(db.row(ctx, selectMerchant, id))
}

// Merchants lists all merchants, oldest first.
func (db *DB) Merchants(ctx context.Context) ([]payment.Merchant, error) {
	return backgroundRows(ctx, db, selectMerchants, scanMerchant)
}

// MerchantPage lists merchants, newest first.
func (db *DB) MerchantPage(ctx context.Context, p payment.Page) (payment.List[payment.Merchant], error) {
	return list(ctx, db, payment.Tenant{}, listMerchants, p, scanMerchant)
}

// MerchantKeys lists a merchant's API keys in both modes, newest first, including expired and
// revoked keys.
func (db *DB) MerchantKeys(ctx context.Context, merchant int64, p payment.Page) (payment.List[*payment.APIKey], error) {
	return list(ctx, db, payment.Tenant{}, listMerchantKeys, p, scanKey, merchant)
}

// MerchantKey reads one key of a merchant in either mode, else ErrNotFound.
func (db *DB) MerchantKey(ctx context.Context, merchant, id int64) (*payment.APIKey, error) {
	k, err := db.KeyByID(ctx, payment.Tenant{}, id)
	if err == nil && k.Tenant != (payment.Tenant{Merchant: merchant, Live: k.Tenant.Live}) {
		return nil, payment.ErrNotFound
	}
	return k, err
}

func scanMerchant(row Scanner) (payment.Merchant, error) {
	var (
		m                 payment.Merchant
		created, disabled int64
	)
	err := row.Scan(&m.ID, &m.Name, &m.TimeZone, &m.Cutoff, &created, &disabled, &m.UnlinkedRefunds,
		&m.Retention.Personal, &m.Retention.Customers)
	if errors.Is(err, sql.ErrNoRows) {
		return m, payment.ErrNotFound
	}
	if err != nil {
		return m, fmt.Errorf("read merchant: %w", err)
	}
	m.CreatedAt, m.DisabledAt = fromMillis(created), fromMillis(disabled)
	return m, nil
}
