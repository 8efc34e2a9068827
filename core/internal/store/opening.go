package store

import (
	"context"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// An engine on which commands run side by side would pay for each of them with statements, waits and a commit of its own. Most payments are alike,
// though: those that come at the same time are written together, each of their two commits by one statement for all of them. Whatever is not as it is
// for most is left as it was, and a command of its own finds out why.

// grouper is such an engine.
type grouper interface {
	// Open writes what an opening says, all of it or nothing. The claim is that of its key. Not done means certainly not.
	Open(ctx context.Context, o *Opening) (claim int64, done bool, err error)
	// Finish writes what a closing says, all of it or nothing. Not done means certainly not.
	Finish(ctx context.Context, c *Closing) (done bool, err error)
}

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
	g, ok := db.engine.(grouper)
	if !ok {
		return false, nil
	}
	_, span := db.tracer.Step(ctx, "store commit")
	defer span.End()
	o.Core = db.process
	o.Transaction.Claim, done, err = g.Open(ctx, o)
	return done, err
}
