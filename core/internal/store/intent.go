package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// Intent is the intent of a payment, which its first commit writes.
type Intent struct {
	// Transaction has an id already. BeginPayment fills in its Claim.
	Transaction *payment.Transaction
	// Redraw gives Transaction another id; nil for none. A store that lists rows by id calls it in
	// the command that writes the intent. Ids then follow the order of commits.
	Redraw      func()
	Terms       payment.Terms
	Key         string // idempotency key, "" for none
	Fingerprint []byte // of the request
	// OtherFingerprints belong to other forms of the request that count as the same: see ClaimKey.
	OtherFingerprints [][]byte
	Source            payment.StoredSource
	Card              payment.LimitedCard // the card, if the rules of its network limit the attempts at it
	Core              int64               // the process that works on the payment; BeginPayment fills it in
	// Refused reports that these rules allow no attempt now: the payment must not be sent, and is
	// stored without an account. BeginPayment fills it in.
	Refused bool
}

// BeginPayment commits the intent of a payment: it claims the idempotency key, uses the token up
// and inserts the transaction. It also counts the attempt as BeginCardAttempt does. If another
// request holds the key, it writes nothing. It then returns the claim of that request, which is not
// Held. A request without a key gets a Held claim without an id.
//
// It returns ErrDuplicate if the transaction's id is taken, and the errors of ClaimKey. If the
// payment source cannot be used, it returns the reason, such as payment.ErrNoCustomer. Nothing was
// written then. After ErrUnavailable the outcome of the commit is unknown.
func (db *DB) BeginPayment(ctx context.Context, i *Intent) (Claim, error) {
	if err := ctx.Err(); err != nil {
		return Claim{}, fmt.Errorf("begin payment: %w", err)
	}
	_, span := db.tracer.Step(ctx, "store commit")
	defer span.End()
	i.Core = db.process
	c, err := db.engine.BeginPayment(ctx, i)
	failBusy(span, err)
	return c, err
}

// BeginPayment is DB.BeginPayment as part of a command.
func (tx *Tx) BeginPayment(i *Intent) (Claim, error) {
	i.Core = tx.db.process
	c, err := tx.s.BeginPayment(tx, i)
	if err == nil && i.Refused {
		err = tx.NeverSend(i.Transaction)
	}
	tx.wrote = tx.wrote || err == nil && c.Held
	return c, err
}

// CheckIntent returns the request that holds the idempotency key of an intent, or the reason for
// which the intent cannot be written. Otherwise it returns the zero Claim. It removes the key if
// that has expired.
func (tx *Tx) CheckIntent(i *Intent) (Claim, error) {
	t := i.Transaction
	if i.Key == "" {
		if err := tx.UseKey(t.Client.APIKey); err != nil {
			return Claim{}, err
		}
		return Claim{}, tx.CheckSource(t.Tenant, i.Source)
	}
	if err := tx.trusted(); err != nil {
		return Claim{}, err
	}
	holder, err := tx.freeKey(t.Client.APIKey, t.Tenant, i.Key, i.fingerprints())
	if err != nil || holder.ID != 0 {
		return holder, err
	}
	return Claim{}, tx.CheckSource(t.Tenant, i.Source)
}

// fingerprints returns all fingerprints that count as the same request.
func (i *Intent) fingerprints() [][]byte {
	return append([][]byte{i.Fingerprint}, i.OtherFingerprints...)
}

// failBusy marks a span as failed if the store was too busy for its commit, or closing.
func failBusy(span telemetry.Span, err error) {
	if errors.Is(err, ErrBusy) || errors.Is(err, ErrClosed) || errors.Is(err, payment.ErrTooManyChanges) {
		span.Fail("store_busy")
	}
}
