package engine

import (
	"context"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/id"
)

// sweepBatch is how many tokens one commit of a sweep changes.
const sweepBatch = 500

// CreateToken stores a card or bank account for one use within payment.TokenLifetime.
func (e *Engine) CreateToken(ctx context.Context, r Request, kind string, details []byte, s vault.Secrets) (Answer, error) {
	defer e.enter(ctx, r)()
	var out *Answer
	err := e.resealing(func() (err error) {
		t := &payment.Token{ID: e.IDs.Next(), Tenant: r.Tenant, Kind: kind, Details: details, Client: r.client()}
		s.Token = payment.NewTokenValue(t.ID)
		t.SecretHash = payment.HashTokenValue(s.Token)
		if t.Sealed, err = e.Vault.Seal(vault.Object{Tenant: r.Tenant, ID: id.Format(id.Token, t.ID)}, s); err != nil {
			return err
		}
		if t.Sealed.Code, err = e.sealCode(ctx, r.Tenant, t.ID, s); err != nil {
			return err
		}
		out, err = e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Answer, error) {
			if err := tx.InsertToken(t); err != nil {
				return nil, err
			}
			answer := e.Present.Token(t, s.Token)
			return &answer, nil
		})
		return err
	})
	return value(out), err
}

// SweepTokens wipes the secrets of the tokens that have expired, and removes those that no retry can name any more. It goes on in
// bounded commits until nothing is left to do.
func (e *Engine) SweepTokens(ctx context.Context) error {
	n, err := e.sweepTokens(ctx)
	e.Observer.TokensSwept(n, err)
	return err
}

// sweepTokens returns how many tokens it removed.
func (e *Engine) sweepTokens(ctx context.Context) (removed int64, err error) {
	for _, step := range []struct {
		removes bool
		do      func(*store.Tx) (int64, error)
	}{
		{false, func(tx *store.Tx) (int64, error) { return tx.WipeTokens(sweepBatch) }},
		// As long as an idempotency key lives, a payment by the token may be asked for again, and is then answered as it was.
		{true, func(tx *store.Tx) (int64, error) { return tx.DeleteTokens(store.KeyLifetime, sweepBatch) }},
	} {
		for n := int64(sweepBatch); n == sweepBatch; {
			if err := e.Store.Update(ctx, func(tx *store.Tx) (err error) { n, err = step.do(tx); return err }); err != nil {
				return removed, fmt.Errorf("sweep tokens: %w", err)
			}
			if step.removes {
				removed += n
			}
		}
	}
	return removed, nil
}
