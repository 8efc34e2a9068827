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

// ExpiringTenant is a tenant and what of it is due.
type ExpiringTenant struct {
	Tenant payment.Tenant
	Ahead  time.Duration // of the test clock in test mode, 0 in live mode

	Lapsed      bool // an authorization has ended
	Unconfirmed bool // a wait for a confirmation has ended
	TooLong     bool // CorrectUnconfirmed shortens a wait
}

// Merchant returns the merchant of the tenant.
func (t ExpiringTenant) Merchant() int64 { return t.Tenant.Merchant }

// Expiring returns the tenants of which something is due by the confirmed time. It reads three rows
// of each tenant.
func (db *DB) Expiring(ctx context.Context) ([]ExpiringTenant, error) {
	return backgroundRows(ctx, db, selectExpiring, scanExpiringTenant,
		toMillis(db.Confirmed()), db.ahead(payment.ConfirmWithin))
}

func scanExpiringTenant(row Scanner) (t ExpiringTenant, err error) {
	var ahead int64
	err = row.Scan(&t.Tenant.Merchant, &t.Tenant.Live, &ahead, &t.Lapsed, &t.Unconfirmed, &t.TooLong)
	if err != nil {
		return t, fmt.Errorf("read a tenant with expiring transactions: %w", err)
	}
	t.Ahead = time.Duration(ahead) * time.Millisecond
	return t, nil
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
