package store

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	selectCardAttempts    = declare("selectCardAttempts")
	correctCardAttempts   = declare("correctCardAttempts")
	insertCardAttempt     = declare("insertCardAttempt")
	keepCardAttempt       = declare("keepCardAttempt")
	deleteCardAttempt     = declare("deleteCardAttempt")
	deleteCardAttempts    = declare("deleteCardAttempts")
	deleteOldCardAttempts = declare("deleteOldCardAttempts")
)

// BeginCardAttempt counts the present attempt at a transaction's card, at the account of t. It does
// so if the merchant has a decline of that card. It returns false, and counts nothing, if the rule
// of the network allows no further attempt. An attempt at a card without a decline is not counted:
// see KeepCardAttempt. So parallel payments that begin before the first decline pass the limits.
// Each one counts from its decline on. No payment is refused because others are in progress. No
// other command counts an attempt at the card before this one ends.
//
// Time goes neither back nor ahead with the clock: a wrong clock frees no card.
func (tx *Tx) BeginCardAttempt(t *payment.Transaction, c payment.LimitedCard) (bool, error) {
	if !c.Limited() {
		return true, nil
	}
	if err := tx.lock("card "+c.Fingerprint+" of ", t.Tenant.Merchant); err != nil {
		return false, err
	}
	var attempts []payment.CardAttempt
	now, ahead := tx.attemptTime(), false
	err := tx.each(selectCardAttempts, func(row Scanner) error {
		var at int64
		var a payment.CardAttempt
		err := row.Scan(&at, &a.Never)
		a.At = fromMillis(at)
		ahead = ahead || a.At.After(now)
		attempts = append(attempts, a)
		return err
	}, t.Tenant.Merchant, c.Fingerprint)
	if err != nil || len(attempts) == 0 {
		return err == nil, err
	}
	if ahead { // a clock that was ahead wrote it
		if err := tx.exec(correctCardAttempts, toMillis(now), t.Tenant.Merchant, c.Fingerprint); err != nil {
			return false, err
		}
	}
	if !c.Rule.Allows(attempts, tx.db.confirmed(now)) {
		return false, nil
	}
	err = tx.insert(insertCardAttempt, t.Tenant.Merchant, c.Fingerprint, t.ID, t.Attempt, t.Account, toMillis(now))
	return err == nil, err
}

// attemptTime returns the time of an attempt. It does not go back with the clock.
func (tx *Tx) attemptTime() time.Time { return tx.db.notBehind(tx.Date()) }

// KeepCardAttempt counts the present attempt at a transaction's card, which the network or the
// issuer has declined. never is set if the decline ends all attempts at the card.
func (tx *Tx) KeepCardAttempt(t *payment.Transaction, c payment.LimitedCard, never bool) error {
	if !c.Limited() {
		return nil
	}
	at := toMillis(tx.attemptTime())
	return tx.exec(keepCardAttempt, t.Tenant.Merchant, c.Fingerprint, t.ID, t.Attempt, t.Account, at, never)
}

// WithdrawCardAttempt removes the present attempt at a transaction's card, which the network has
// not declined.
func (tx *Tx) WithdrawCardAttempt(t *payment.Transaction, c payment.LimitedCard) error {
	if !c.Limited() {
		return nil
	}
	return tx.exec(deleteCardAttempt, t.Tenant.Merchant, c.Fingerprint, t.ID, t.Attempt, t.Account)
}

// ForgetCardAttempts removes all attempts at the card of an approved transaction.
func (tx *Tx) ForgetCardAttempts(t *payment.Transaction, c payment.LimitedCard) error {
	if !c.Limited() {
		return nil
	}
	return tx.exec(deleteCardAttempts, t.Tenant.Merchant, c.Fingerprint)
}

// PurgeCardAttempts removes the attempts that have ended to count by a time, and returns how many.
// The caller reads the time from the clock.
func (db *DB) PurgeCardAttempts(ctx context.Context, now time.Time) (purged int64, err error) {
	return db.purgeBatches(ctx, deleteOldCardAttempts, db.confirmed(now).Add(-payment.RetryMemory))
}
