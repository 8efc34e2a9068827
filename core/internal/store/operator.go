package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	insertOperator       = declare("insertOperator")
	lockOperator         = declare("lockOperator")
	revokeOperator       = declare("revokeOperator")
	selectOperatorByHash = declare("selectOperatorByHash")
	selectOperators      = declare("selectOperators")
)

// InsertOperator inserts an operator token and fills in CreatedAt. ErrDuplicate if the id is taken.
func (tx *Tx) InsertOperator(o *payment.OperatorToken, hash []byte) error {
	o.CreatedAt = tx.Now
	return tx.insert(insertOperator,
		o.ID, o.Name, o.Role, toMillis(o.CreatedAt), toMillis(o.ExpiresAt), hash)
}

// RevokeOperator revokes an operator token, and returns it as it was before and as it is now.
// ErrNotFound if there is none.
func (tx *Tx) RevokeOperator(id int64) (before, after *payment.OperatorToken, err error) {
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
	return before, &now, tx.change(revokeOperator, toMillis(now.RevokedAt), id)
}

// OperatorByHash returns the operator token with this hash, else ErrNotFound.
func (db *DB) OperatorByHash(ctx context.Context, hash []byte) (*payment.OperatorToken, error) {
	return scanOperator(db.row(ctx, selectOperatorByHash, hash))
}

// Operators returns all operator tokens, oldest first, including expired and revoked tokens.
func (db *DB) Operators(ctx context.Context) (out []*payment.OperatorToken, err error) {
	return listed(ctx, db, payment.Tenant{}, selectOperators, scanOperator)
}

func scanOperator(row Scanner) (*payment.OperatorToken, error) {
	var o payment.OperatorToken
	var created, expires, revoked int64
	err := row.Scan(&o.ID, &o.Name, &o.Role, &created, &expires, &revoked)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read operator: %w", err)
	}
	o.CreatedAt, o.ExpiresAt, o.RevokedAt = fromMillis(created), fromMillis(expires), fromMillis(revoked)
	return &o, nil
}
