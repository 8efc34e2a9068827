package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

const merchantColumns = `id, name, time_zone, cutoff, created_at, disabled_at, unlinked_refunds,
	COALESCE(keep_personal, 0), COALESCE(keep_customers, 0)`

// InsertMerchant writes a merchant whose day ends at midnight UTC. ErrDuplicate when the id is taken.
func (tx *Tx) InsertMerchant(id int64, name string) error {
	return tx.insert(`INSERT INTO merchants (id, name, created_at) VALUES (?, ?, ?)`, id, name, toMillis(tx.Now))
}

// UpdateMerchant changes a merchant. ErrConflict when there is none.
func (tx *Tx) UpdateMerchant(id int64, c payment.MerchantChange) error {
	var allowed any
	if c.UnlinkedRefunds != nil {
		allowed = *c.UnlinkedRefunds
	}
	if err := tx.setRetention(id, c); err != nil {
		return err
	}
	return tx.change(`UPDATE merchants SET name = COALESCE(NULLIF(?1, ''), name), time_zone = COALESCE(NULLIF(?2, ''), time_zone),
			cutoff = CASE WHEN ?3 < 0 THEN cutoff ELSE ?3 END, unlinked_refunds = COALESCE(?4, unlinked_refunds)
		WHERE id = ?5`, c.Name, c.TimeZone, c.Cutoff, allowed, id)
}

// setRetention changes the periods of a merchant. Erasures by age begin again, because they have
// passed rows that the merchant's new period contains.
func (tx *Tx) setRetention(id int64, c payment.MerchantChange) error {
	if c.Customers != nil {
		if err := tx.exec(`UPDATE merchants SET keep_customers = NULLIF(?, 0) WHERE id = ?`, *c.Customers, id); err != nil {
			return err
		}
	}
	if c.Personal == nil {
		return nil
	}
	if err := tx.lock(erasuresLock, 0); err != nil {
		return err
	}
	if err := tx.exec(`UPDATE merchants SET keep_personal = NULLIF(?, 0) WHERE id = ?`, *c.Personal, id); err != nil {
		return err
	}
	return tx.exec(`DELETE FROM erasures`)
}

// DisableMerchant takes a merchant out of service, or puts it back. It changes nothing of one that is there already. ErrConflict when there
// is none.
func (tx *Tx) DisableMerchant(id int64, disabled bool) error {
	return tx.change(`UPDATE merchants SET disabled_at = CASE WHEN ?1 = 0 THEN 0 WHEN disabled_at > 0 THEN disabled_at ELSE ?2 END WHERE id = ?3`,
		disabled, toMillis(tx.Now), id)
}

// Merchant reads one merchant inside the group, else ErrNotFound.
func (tx *Tx) Merchant(id int64) (payment.Merchant, error) {
	row, err := tx.row(`SELECT `+merchantColumns+` FROM merchants WHERE id = ?`, id)
	if err != nil {
		return payment.Merchant{}, err
	}
	return scanMerchant(row)
}

// LockedMerchant reads one merchant, which no other command changes until this one has ended, else
// ErrNotFound.
func (tx *Tx) LockedMerchant(id int64) (payment.Merchant, error) {
	row, err := tx.locked(`SELECT `+merchantColumns+` FROM merchants WHERE id = ?`, id)
	if err != nil {
		return payment.Merchant{}, err
	}
	return scanMerchant(row)
}

// Merchant reads one merchant, else ErrNotFound.
func (db *DB) Merchant(ctx context.Context, id int64) (payment.Merchant, error) {
	s, err := db.query(ctx, `SELECT `+merchantColumns+` FROM merchants WHERE id = ?`)
	if err != nil {
		return payment.Merchant{}, err
	}
	return scanMerchant(s.Row(ctx, id))
}

// Merchants lists all merchants, oldest first.
func (db *DB) Merchants(ctx context.Context) ([]payment.Merchant, error) {
	return collect(ctx, db, `SELECT `+merchantColumns+` FROM merchants ORDER BY id`, scanMerchant)
}

// MerchantPage lists merchants, newest first.
func (db *DB) MerchantPage(ctx context.Context, p payment.Page) (payment.List[payment.Merchant], error) {
	return list(ctx, db, `SELECT `+merchantColumns+` FROM merchants WHERE id > 0`, p, scanMerchant)
}

// MerchantKeys lists a merchant's API keys in both modes, newest first, those that are not valid any more included.
func (db *DB) MerchantKeys(ctx context.Context, merchant int64, p payment.Page) (payment.List[*payment.APIKey], error) {
	return list(ctx, db, `SELECT `+keyColumns+` FROM api_keys WHERE merchant_id = ? AND live IN (0, 1)`, p, scanKey, merchant)
}

// MerchantKey reads one key of a merchant in either mode, else ErrNotFound.
func (db *DB) MerchantKey(ctx context.Context, merchant, id int64) (*payment.APIKey, error) {
	k, err := db.KeyByID(ctx, id)
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
