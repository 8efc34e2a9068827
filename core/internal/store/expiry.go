package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	clearExpiry       = declare("clearExpiry")
	setExpiry         = declare("setExpiry")
	expireTransaction = declare("expireTransaction")
	advanceTestClock  = declare("advanceTestClock")
	selectTestClock   = declare("selectTestClock")
	selectLapsed      = declare("selectLapsed")
	selectLapsedOf    = declare("selectLapsedOf")
)

// SetExpiry stores when an authorization, or the wait for a confirmation, lapses. For a test object
// the time is on the test clock of its merchant. The zero time is for never.
func (tx *Tx) SetExpiry(tenant payment.Tenant, transaction int64, at time.Time) error {
	if at.IsZero() {
		return tx.execOne(clearExpiry, transaction)
	}
	return tx.execOne(setExpiry, toMillis(at), tenant.Live, tenant.Merchant, transaction)
}

// Lapsed identifies a transaction whose authorization, or wait for a confirmation, has ended.
type Lapsed struct {
	ID     int64
	Tenant payment.Tenant
	at     int64 // when it ended, in milliseconds
}

// Lapsed returns a page of the authorizations of all tenants that lapsed by a time, the longest
// lapsed first. The page begins after the row after; the zero Lapsed is for the first page.
func (db *DB) Lapsed(ctx context.Context, by time.Time, after Lapsed, limit int) ([]Lapsed, error) {
	return db.lapsed(ctx, selectLapsed, by, after, limit)
}

// LapsedOf is Lapsed for the test payments of a merchant.
func (db *DB) LapsedOf(ctx context.Context, merchant int64, by time.Time, after Lapsed, limit int) ([]Lapsed, error) {
	return db.lapsedOf(ctx, selectLapsedOf, merchant, by, after, limit)
}

func (db *DB) lapsed(ctx context.Context, s *Statement, by time.Time, after Lapsed, limit int) ([]Lapsed, error) {
	return backgroundRows(ctx, db, s, scanLapsed, toMillis(by), after.at, after.ID, limit)
}

func (db *DB) lapsedOf(
	ctx context.Context, s *Statement, merchant int64, by time.Time, after Lapsed, limit int,
) ([]Lapsed, error) {
	return backgroundRows(ctx, db, s, scanLapsed, toMillis(by), after.at, after.ID, merchant, limit)
}

func scanLapsed(row Scanner) (Lapsed, error) {
	var l Lapsed
	if err := row.Scan(&l.ID, &l.Tenant.Merchant, &l.Tenant.Live, &l.at); err != nil {
		return l, fmt.Errorf("read lapsed authorization: %w", err)
	}
	return l, nil
}

// ExpireTransaction ends an authorization: the captured amount stays, and the rest is released. It
// returns ErrConflict if nothing is authorized, or a step waits for the acquirer.
func (tx *Tx) ExpireTransaction(tenant payment.Tenant, id int64) error {
	return tx.execOne(expireTransaction,
		toMillis(tx.Now), id, tenant.Merchant, tenant.Live)
}

// MaxTestClock is how far a test clock may be ahead of the clock. A time.Duration holds 292 years.
const MaxTestClock = 100 * 366 * 24 * time.Hour

// AdvanceTestClock moves the merchant's test clock forward, and returns how far it is then ahead of
// the clock. It returns ErrConflict if that would be more than MaxTestClock.
func (tx *Tx) AdvanceTestClock(merchant int64, by time.Duration) (time.Duration, error) {
	row, err := tx.row(advanceTestClock, merchant, by.Milliseconds(), MaxTestClock.Milliseconds())
	if err != nil {
		return 0, err
	}
	var ahead int64
	err = row.Scan(&ahead)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, ErrConflict
	case err != nil:
		return 0, fmt.Errorf("advance test clock: %w", err)
	}
	return time.Duration(ahead) * time.Millisecond, nil
}

// TestClock returns how far the merchant's test clock is ahead of the clock.
func (db *DB) TestClock(ctx context.Context, merchant int64) (time.Duration, error) {
	ahead, err := scanNumber(db.rowOf(ctx, payment.Tenant{Merchant: merchant}, selectTestClock, merchant))
	return time.Duration(ahead) * time.Millisecond, err
}
