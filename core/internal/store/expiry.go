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
	selectExpiring    = declare("selectExpiring")
	selectLapsed      = declare("selectLapsed")
)

// SetExpiry stores when an authorization, or the wait for a confirmation, lapses. For a test object
// the time is on the test clock of its merchant. The zero time is for never.
func (tx *Tx) SetExpiry(tenant payment.Tenant, transaction int64, at time.Time) error {
	if at.IsZero() {
		return tx.execOne(clearExpiry, transaction)
	}
	return tx.execOne(setExpiry, toMillis(at), tenant.Live, tenant.Merchant, transaction)
}

// TenantClock is how far a tenant's clock is ahead: the test clock in test mode, 0 in live mode.
type TenantClock struct {
	Tenant payment.Tenant
	Ahead  time.Duration
}

// Merchant returns the merchant of the clock.
func (c TenantClock) Merchant() int64 { return c.Tenant.Merchant }

// Expiring returns the tenants with a transaction whose authorization, or wait for a confirmation,
// has ended by the confirmed time. It also returns the tenants of which CorrectUnconfirmed shortens
// a wait. It reads three rows of each tenant.
func (db *DB) Expiring(ctx context.Context) ([]TenantClock, error) {
	return backgroundRows(ctx, db, selectExpiring, scanTenantClock,
		toMillis(db.Confirmed()), db.ahead(payment.ConfirmWithin))
}

func scanTenantClock(row Scanner) (c TenantClock, err error) {
	var ahead int64
	if err := row.Scan(&c.Tenant.Merchant, &c.Tenant.Live, &ahead); err != nil {
		return c, fmt.Errorf("read the clock of a tenant: %w", err)
	}
	c.Ahead = time.Duration(ahead) * time.Millisecond
	return c, nil
}

// Lapsed returns a page of a tenant's authorizations that lapsed by a time, the longest lapsed
// first. The page begins after the row after; the zero Due is for the first page.
func (db *DB) Lapsed(ctx context.Context, tenant payment.Tenant, by time.Time, after Due, limit int) ([]Due, error) {
	return backgroundRows(ctx, db, selectLapsed, scanDue,
		tenant.Merchant, tenant.Live, toMillis(by), after.At, after.ID, limit)
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
