package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/id"
)

// A security code may not be kept after authorization, not even encrypted, and a deleted row leaves
// copies. So a code is encrypted by a key that is destroyed: one key an hour, which lives until the
// last token has expired whose code it encrypted.

// codeKeys is the newest key of security codes that this process has sealed by. The raw key is not
// in it: the vault encrypts it.
type codeKeys struct {
	turn   chan struct{} // holds a value while one request reads or makes the key of an hour
	newest atomic.Pointer[payment.CodeKey]
}

func newCodeKeys() *codeKeys { return &codeKeys{turn: make(chan struct{}, 1)} }

// of returns the key of an hour, nil if this process has none.
func (c *codeKeys) of(hour int64) *payment.CodeKey {
	if k := c.newest.Load(); k != nil && k.Hour == hour {
		return k
	}
	return nil
}

// forget has the next code sealed by a key from the store.
func (c *codeKeys) forget() { c.newest.Store(nil) }

// sealCode encrypts the security code in s for a token by the key of this hour, and makes that key
// if there is none. The store refuses a code whose key it has lost with store.ErrCodeKeyGone.
func (e *Engine) sealCode(
	ctx context.Context, tenant payment.Tenant, token int64, s vault.Secrets,
) (payment.SealedCode, error) {
	if s.CVC.IsZero() {
		return payment.SealedCode{}, nil
	}
	o := vault.Object{Tenant: tenant, ID: id.Format(id.Token, token)}
	hour := payment.CodeHour(e.Clock.Now())
	if k := e.codeKeys.of(hour); k != nil {
		sealed, err := e.Vault.SealCode(o, *k, s.Token, s.CVC)
		if !foreignKey(err) { // else a rotation may have encrypted the key anew: read it
			return sealed, err
		}
		e.codeKeys.forget()
	}
	select { // so that one request of this process makes the key of an hour
	case e.codeKeys.turn <- struct{}{}:
		defer func() { <-e.codeKeys.turn }()
	case <-ctx.Done():
		return payment.SealedCode{}, ctx.Err() //nolint:wrapcheck // of the caller's own context
	}
	k := e.codeKeys.of(hour)
	if k == nil {
		found, err := e.Store.CodeKey(ctx, hour)
		switch {
		case errors.Is(err, payment.ErrNotFound):
			return e.sealByNewKey(ctx, o, hour, s)
		case err != nil:
			return payment.SealedCode{}, err
		}
		k = &found
	}
	sealed, err := e.Vault.SealCode(o, *k, s.Token, s.CVC)
	if foreignKey(err) {
		// The codes of another vault lie here, as after a restore. Their tokens are lost to this one too.
		return e.sealByNewKey(ctx, o, hour, s)
	}
	if err == nil {
		e.codeKeys.newest.Store(k)
	}
	return sealed, err
}

// foreignKey reports that the vault cannot open a code key.
func foreignKey(err error) bool {
	return errors.Is(err, vault.ErrUnknownKey) || errors.Is(err, vault.ErrNotHere)
}

// sealByNewKey makes the key of an hour, writes it and encrypts a code by it.
func (e *Engine) sealByNewKey(
	ctx context.Context, o vault.Object, hour int64, s vault.Secrets,
) (payment.SealedCode, error) {
	k, err := e.Vault.NewCodeKey(e.IDs.Next(), hour)
	if err != nil {
		return payment.SealedCode{}, err
	}
	if err := e.Store.Update(ctx, func(tx *store.Tx) error { return tx.InsertCodeKey(k) }); err != nil {
		return payment.SealedCode{}, fmt.Errorf("make a code key: %w", err)
	}
	e.codeKeys.newest.Store(&k)
	return e.Vault.SealCode(o, k, s.Token, s.CVC)
}

// DestroyCodeKeys destroys the keys of security codes whose tokens have all expired. It also
// destroys keys of an hour that no core's clock can have reached by store.DB.LatestToken: the clock
// was ahead when they were made, and they would outlive the hour by as much. Their tokens are refused
// from then on.
func (e *Engine) DestroyCodeKeys(ctx context.Context) error {
	hour := payment.CodeHour(e.Clock.Now())
	if k := e.codeKeys.newest.Load(); k != nil && k.Hour != hour {
		e.codeKeys.forget() // this process has a copy of the key, which must not outlive the stored one
	}
	latest := payment.CodeHour(e.Store.LatestToken())
	return e.Store.DestroyCodeKeys(ctx, hour-payment.CodeHours+1, max(hour, latest)+1)
}
