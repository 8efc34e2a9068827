package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/id"
)

// A security code may not be kept after authorization, not even encrypted, and a deleted row leaves copies. So a code is encrypted by a
// key that is destroyed: one key an hour, which lives until the last token has expired whose code it encrypted.

// sealCode encrypts the security code in s for a token by the key of this hour, and makes that key when there is none.
func (e *Engine) sealCode(ctx context.Context, tenant payment.Tenant, token int64, s vault.Secrets) (payment.SealedCode, error) {
	if s.CVC.IsZero() {
		return payment.SealedCode{}, nil
	}
	o := vault.Object{Tenant: tenant, ID: id.Format(id.Token, token)}
	e.codeKeys.Lock() // so that one request of this process makes the key of an hour
	defer e.codeKeys.Unlock()
	hour := payment.CodeHour(e.Clock.Now())
	k, err := e.Store.CodeKey(ctx, hour)
	if err == nil {
		sealed, err := e.Vault.SealCode(o, k, s.Token, s.CVC)
		if err == nil {
			return sealed, nil
		}
		if !errors.Is(err, vault.ErrUnknownKey) && !errors.Is(err, vault.ErrNotHere) {
			return payment.SealedCode{}, err
		}
		// The codes of another vault lie here, as after a restore. Their tokens are lost to this one too.
	} else if !errors.Is(err, store.ErrNotFound) {
		return payment.SealedCode{}, err
	}
	k, err = e.Vault.NewCodeKey(e.IDs.Next(), hour)
	if err != nil {
		return payment.SealedCode{}, err
	}
	if err := e.Store.Update(ctx, func(tx *store.Tx) error { return tx.InsertCodeKey(k) }); err != nil {
		return payment.SealedCode{}, fmt.Errorf("make a code key: %w", err)
	}
	return e.Vault.SealCode(o, k, s.Token, s.CVC)
}

// DestroyCodeKeys destroys the keys of security codes whose tokens have all expired. It also destroys
// keys of an hour that no core's clock can have reached: the clock was ahead when they were made, and
// they would outlive the hour by as much. Their tokens are refused from then on.
func (e *Engine) DestroyCodeKeys(ctx context.Context) error {
	hour := payment.CodeHour(e.Clock.Now())
	_, err := e.Store.DestroyCodeKeys(ctx, hour-payment.CodeHours+1, hour+1)
	return err
}
