package engine

import (
	"context"
	"errors"

	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// CreateOperator makes an operator token. Its response shows the token, once.
func (e *Engine) CreateOperator(ctx context.Context, r Request, o store.OperatorToken) (Answer, error) {
	token, hash, err := auth.MintOperator()
	if err != nil {
		return Answer{}, err
	}
	defer e.enter(ctx, r)()
	done, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Answer, error) {
		made := o
		if err := e.insertNew(func(id int64) error { made.ID = id; return tx.InsertOperator(&made, hash) }); err != nil {
			return nil, err
		}
		a := e.Present.Operator(&made, tx.Now, token)
		after := e.Present.Operator(&made, tx.Now, secret.String{})
		return &a, e.Audit(tx, r, Action{Name: "operators.create", Object: id.Format(id.Operator, made.ID), After: string(after.Body)})
	})
	return value(done), err
}

// RevokeOperator ends an operator token at once. ErrNotFound if there is none.
func (e *Engine) RevokeOperator(ctx context.Context, r Request, operator int64) (Answer, error) {
	var out Answer
	err := e.Store.Update(ctx, func(tx *store.Tx) error {
		before, after, err := tx.RevokeOperator(operator)
		if errors.Is(err, store.ErrNotFound) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		out = e.Present.Operator(after, tx.Now, secret.String{})
		was := e.Present.Operator(before, tx.Now, secret.String{})
		return e.Audit(tx, r, Action{
			Name: "operators.revoke", Object: id.Format(id.Operator, operator), Before: string(was.Body), After: string(out.Body),
		})
	})
	return out, err
}
