package engine

import (
	"context"

	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// CreateOperator makes an operator token. Its response shows the token, once.
func (e *Engine) CreateOperator(ctx context.Context, r Request, o payment.OperatorToken) (Result, error) {
	defer e.running.enter(ctx, r)()
	done, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		made := o
		made.ID, made.CreatedAt = e.IDs.Next(), tx.Now
		token := auth.MintOperator(e.Roots, &made)
		if err := tx.InsertOperator(&made); err != nil {
			return nil, err
		}
		result := e.rendered(Result{Kind: Created, Object: &made, At: tx.Now, Credential: token})
		return &result, e.Audit(tx, r, Action{
			Name: "operators.create", Object: id.Format(id.Operator, made.ID), After: e.shownOperator(tx, &made),
		})
	})
	return value(done), err
}

// RevokeOperator ends an operator token immediately, and returns it. It returns payment.ErrNotFound
// if there is none.
func (e *Engine) RevokeOperator(ctx context.Context, r Request, operator int64) (*payment.OperatorToken, error) {
	var out *payment.OperatorToken
	err := e.Store.Update(ctx, func(tx *store.Tx) error {
		before, after, err := tx.RevokeOperator(r.Actor.Token, operator)
		if err != nil {
			return err
		}
		out = after
		return e.Audit(tx, r, Action{
			Name: "operators.revoke", Object: id.Format(id.Operator, operator),
			Before: e.shownOperator(tx, before), After: e.shownOperator(tx, after),
		})
	})
	return out, err
}

// shownOperator returns an operator token as audit records show it, without the token itself.
func (e *Engine) shownOperator(tx *store.Tx, o *payment.OperatorToken) string {
	return string(e.rendered(Result{Kind: Existing, Object: o, At: tx.Now}).Body)
}
