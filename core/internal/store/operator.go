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
	insertOperator  = declare("insertOperator")
	lockOperator    = declare("lockOperator")
	revokeOperator  = declare("revokeOperator")
	selectOperator  = declare("selectOperator")
	selectOperators = declare("selectOperators")
	shareOperator   = declare("shareOperator")
)

// InsertOperator inserts an operator token. It returns ErrDuplicate if the id is taken.
func (tx *Tx) InsertOperator(o *payment.OperatorToken) error {
	return tx.insert(insertOperator,
		o.ID, o.Name, o.Role, toMillis(o.CreatedAt), toMillis(o.ExpiresAt), o.Hash)
}

// An operator token can end while its request sends the body, or while its command waits. A command
// under a token therefore reads the row of the token and locks it against a revocation. Once the
// end of a token is committed, no command has an effect under it. The role of a token never
// changes, so the role that the login has read stays right.

// UseOperator returns nil if the command may run under an operator token. It returns
// payment.ErrOperatorEnded if the token is revoked, expired or missing. Token 0 is for a command
// without a token.
func (tx *Tx) UseOperator(token int64) error {
	if token == 0 {
		return nil
	}
	row, err := tx.row(shareOperator, token)
	if err != nil {
		return err
	}
	return operatorUse(row, tx.Now)
}

// UseOperator is Tx.UseOperator for a read outside of commands.
func (db *DB) UseOperator(ctx context.Context, token int64) error {
	if token == 0 {
		return nil
	}
	return operatorUse(db.row(ctx, selectOperator, token), db.clock.Now())
}

// operatorUse returns the error of UseOperator that the row of a token shows.
func operatorUse(row Scanner, now time.Time) error {
	o, err := scanOperator(row)
	if errors.Is(err, payment.ErrNotFound) || err == nil && !o.Valid(now) {
		return payment.ErrOperatorEnded
	}
	return err
}

// RevokeOperator revokes an operator token under the token by, and returns it as it was before and
// as it is now. It erases the hash, so that a program that removes the revocation from the row does
// not revive the token. It returns ErrNotFound if there is none, and the errors of UseOperator.
func (tx *Tx) RevokeOperator(by, id int64) (before, after *payment.OperatorToken, err error) {
	// Two tokens that revoke each other would deadlock without this lock.
	if err := tx.lock("operators", 0); err != nil {
		return nil, nil, err
	}
	if err := tx.UseOperator(by); err != nil {
		return nil, nil, err
	}
	row, err := tx.row(lockOperator, id)
	if err != nil {
		return nil, nil, err
	}
	if before, err = scanOperator(row); err != nil {
		return nil, nil, err
	}
	now := *before
	if now.RevokedAt.IsZero() {
		now.RevokedAt = tx.Now
	}
	now.Hash = nil
	return before, &now, tx.execOne(revokeOperator, toMillis(now.RevokedAt), id)
}

// Operator returns the operator token with an id, else ErrNotFound.
func (db *DB) Operator(ctx context.Context, id int64) (*payment.OperatorToken, error) {
	return scanOperator(db.essentialOf(ctx, Caller{}, selectOperator, id))
}

// Operators returns all operator tokens, oldest first, including expired and revoked tokens.
func (db *DB) Operators(ctx context.Context) (out []*payment.OperatorToken, err error) {
	return listed(ctx, db, payment.Tenant{}, selectOperators, scanOperator)
}

func scanOperator(row Scanner) (*payment.OperatorToken, error) {
	var o payment.OperatorToken
	var created, expires, revoked int64
	err := row.Scan(&o.ID, &o.Name, &o.Role, &created, &expires, &revoked, &o.Hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read operator: %w", err)
	}
	o.CreatedAt, o.ExpiresAt, o.RevokedAt = fromMillis(created), fromMillis(expires), fromMillis(revoked)
	return &o, nil
}
