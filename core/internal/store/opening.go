package store

import (
	"context"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// Opening is what the first commit of a payment writes: its intent.
type Opening struct {
	Transaction *payment.Transaction // with its id; its Claim is filled in; its Client's API key, unless 0, must be good
	Terms       payment.Terms
	Key         string // idempotency key, "" for none
	Fingerprint []byte // of the request
	// What it draws on, 0 for nothing: the customer must be there, the method attached, and the customer's if one is named; the token is used up.
	Customer, Method, Token int64
	// Core is who works on it.
	Core int64
}

// OpenPayment writes the intent of a payment together with those of others. It reports whether that was done; if not, nothing was, and whether it can be
// is for commands to say: ClaimKey, InsertTransaction, InsertTerms and UseToken. After an error it is not known.
func (db *DB) OpenPayment(ctx context.Context, o *Opening) (done bool, err error) {
	if !db.shared {
		return false, nil // the engine batches all commands
	}
	_, span := db.tracer.Step(ctx, "store commit")
	defer span.End()
	o.Core = db.process
	o.Transaction.Claim, done, err = db.engine.OpenPayment(ctx, o)
	return done, err
}
