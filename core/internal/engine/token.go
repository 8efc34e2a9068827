package engine

import (
	"context"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/id"
)

// CreateToken stores a card or bank account for one use within payment.TokenLifetime.
func (e *Engine) CreateToken(ctx context.Context, r Request, kind string, details []byte, s vault.Secrets) (Result, error) {
	defer e.running.enter(ctx, r)()
	var out *Result
	err := e.resealing(func() (err error) {
		t := &payment.Token{ID: e.IDs.Next(), Tenant: r.Tenant, Kind: kind, Details: details, Client: r.client()}
		s.Token = payment.NewTokenValue(t.ID)
		t.SecretHash = payment.HashTokenValue(s.Token)
		if t.Sealed, err = e.Vault.Seal(vault.Object{Tenant: r.Tenant, ID: id.Format(id.Token, t.ID)}, s); err != nil {
			return err
		}
		if t.Sealed.Code, err = e.codes.seal(ctx, r.Tenant, t.ID, s); err != nil {
			return err
		}
		out, err = e.intentOnce(ctx, r.caller(), r, func(tx *store.Tx, _ int64) (*Result, error) {
			if err := tx.InsertToken(t); err != nil {
				return nil, err
			}
			result := e.rendered(Result{Kind: Created, Object: t, Credential: s.Token})
			return &result, nil
		})
		return err
	})
	return value(out), err
}

// DestroyCodeKeys destroys the keys of the security codes of expired tokens. Their tokens are
// refused from then on.
func (e *Engine) DestroyCodeKeys(ctx context.Context) error { return e.codes.destroy(ctx) }

// SweepTokens wipes the secrets of the tokens that have expired, and removes the tokens that no
// retry can name any more.
func (e *Engine) SweepTokens(ctx context.Context) error {
	_, err := e.Store.WipeTokens(ctx)
	n := int64(0)
	if err == nil {
		// A payment by the token can be retried, and gets the stored response, while its key lives.
		n, err = e.Store.DeleteTokens(ctx, store.KeyLifetime)
	}
	e.Observer.TokensSwept(n, err)
	if err != nil {
		return fmt.Errorf("sweep tokens: %w", err)
	}
	return nil
}
