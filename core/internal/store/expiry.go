package store

import (
	"context"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// SetExpiry writes when an authorization, or the wait for a confirmation, lapses, on the test clock of its merchant when it is a test object.
// The zero time is never.
func (tx *Tx) SetExpiry(tenant payment.Tenant, transaction int64, at time.Time) error {
	if at.IsZero() {
		return tx.change(`UPDATE transactions SET expires_at = 0 WHERE id = ?`, transaction)
	}
	return tx.change(`UPDATE transactions SET expires_at = ?1
			+ CASE ?2 WHEN 0 THEN COALESCE((SELECT offset_ms FROM test_clocks WHERE merchant_id = ?3), 0) ELSE 0 END
		WHERE id = ?4`, toMillis(at), tenant.Live, tenant.Merchant, transaction)
}

// Lapsed names a transaction whose authorization, or wait for a confirmation, is over.
type Lapsed struct {
	ID     int64
	Tenant payment.Tenant
	at     int64 // when it was over, in milliseconds
}

const lapsed = `SELECT id, merchant_id, live, expires_at FROM transactions INDEXED BY transactions_expiring
	WHERE expires_at > 0 AND status IN ('authorized', 'partially_captured') AND operation = ''` + lapsedAfter

// lapsedAfter selects the rows up to the time ?1 that come after the row ?3 of the time ?2.
const lapsedAfter = ` AND expires_at <= ?1 AND expires_at >= ?2 AND (expires_at > ?2 OR id > ?3)`

// Lapsed returns a page of the authorizations of all tenants that lapsed by a time, the longest
// lapsed first. The page begins after the row after; the zero Lapsed is for the first page.
func (db *DB) Lapsed(ctx context.Context, by time.Time, after Lapsed, limit int) ([]Lapsed, error) {
	return db.lapsed(ctx, lapsed, by, after, limit)
}

// LapsedOf is Lapsed for one tenant.
func (db *DB) LapsedOf(ctx context.Context, tenant payment.Tenant, by time.Time, after Lapsed, limit int) ([]Lapsed, error) {
	return db.lapsedOf(ctx, lapsed, tenant, by, after, limit)
}

func (db *DB) lapsed(ctx context.Context, text string, by time.Time, after Lapsed, limit int) ([]Lapsed, error) {
	return collect(ctx, db, text+` ORDER BY expires_at, id LIMIT ?4`, scanLapsed, toMillis(by), after.at, after.ID, limit)
}

func (db *DB) lapsedOf(
	ctx context.Context, text string, tenant payment.Tenant, by time.Time, after Lapsed, limit int,
) ([]Lapsed, error) {
	return collect(ctx, db, text+` AND merchant_id = ?4 AND live = ?5 ORDER BY expires_at, id LIMIT ?6`, scanLapsed,
		toMillis(by), after.at, after.ID, tenant.Merchant, tenant.Live, limit)
}

func scanLapsed(row Scanner) (Lapsed, error) {
	var l Lapsed
	if err := row.Scan(&l.ID, &l.Tenant.Merchant, &l.Tenant.Live, &l.at); err != nil {
		return l, fmt.Errorf("read lapsed authorization: %w", err)
	}
	return l, nil
}

// ExpireTransaction ends an authorization: what was captured of it stays, the rest is released. ErrConflict when nothing is authorized,
// or a step is asking the acquirer.
func (tx *Tx) ExpireTransaction(tenant payment.Tenant, id int64) error {
	return tx.change(`UPDATE transactions SET status = CASE WHEN amount_captured > 0 THEN 'captured' ELSE 'expired' END,
			version = version + 1, updated_at = ?
		WHERE id = ? AND merchant_id = ? AND live = ? AND operation = '' AND status IN ('authorized', 'partially_captured')`,
		toMillis(tx.Now), id, tenant.Merchant, tenant.Live)
}

// AdvanceTestClock moves the merchant's test clock forward and returns how far it is ahead then.
func (tx *Tx) AdvanceTestClock(merchant int64, by time.Duration) (time.Duration, error) {
	row, err := tx.row(`INSERT INTO test_clocks (merchant_id, offset_ms) VALUES (?, ?)
		ON CONFLICT (merchant_id) DO UPDATE SET offset_ms = test_clocks.offset_ms + excluded.offset_ms RETURNING offset_ms`, merchant, by.Milliseconds())
	if err != nil {
		return 0, err
	}
	var ahead int64
	if err := row.Scan(&ahead); err != nil {
		return 0, fmt.Errorf("advance test clock: %w", err)
	}
	return time.Duration(ahead) * time.Millisecond, nil
}

// TestClock is how far the merchant's test clock is ahead.
func (db *DB) TestClock(ctx context.Context, merchant int64) (time.Duration, error) {
	s, err := db.query(ctx, `SELECT COALESCE((SELECT offset_ms FROM test_clocks WHERE merchant_id = ?), 0)`)
	if err != nil {
		return 0, err
	}
	ahead, err := scanNumber(s.Row(ctx, merchant))
	return time.Duration(ahead) * time.Millisecond, err
}
