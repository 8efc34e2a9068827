package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
)

// A security code may not be kept after authorization, not even encrypted, and a deleted row leaves
// copies. So a code is encrypted by a key that is destroyed. Each hour has one key. It is destroyed
// when the last token whose code it encrypts has expired.

// codes seals security codes. It caches the newest key that this process has used to seal. The
// cached key is encrypted by the vault.
type codes struct {
	store  *store.DB
	vault  *vault.Vault
	clock  clock.Clock
	ids    *id.Generator
	turn   chan struct{} // holds a value while one request reads or makes the key of an hour
	newest atomic.Pointer[payment.CodeKey]
}

func newCodes(db *store.DB, v *vault.Vault, c clock.Clock, ids *id.Generator) *codes {
	return &codes{store: db, vault: v, clock: c, ids: ids, turn: make(chan struct{}, 1)}
}

// of returns the key of an hour, nil if this process has none.
func (c *codes) of(hour int64) *payment.CodeKey {
	if k := c.newest.Load(); k != nil && k.Hour == hour {
		return k
	}
	return nil
}

// forget clears the cache, so that the next code is sealed by a key from the store.
func (c *codes) forget() { c.newest.Store(nil) }

// seal encrypts the security code in s for a token by the key of this hour, and makes that key
// if there is none. The store refuses a code whose key it has lost with store.ErrCodeKeyGone.
func (c *codes) seal(
	ctx context.Context, tenant payment.Tenant, token int64, s vault.Secrets,
) (payment.SealedCode, error) {
	if s.CVC.IsZero() {
		return payment.SealedCode{}, nil
	}
	o := vault.Object{Tenant: tenant, ID: id.Format(id.Token, token)}
	hour := payment.CodeHour(c.clock.Now())
	if k := c.of(hour); k != nil {
		sealed, err := c.vault.SealCode(o, *k, s.Token, s.CVC)
		if !foreignKey(err) { // else a rotation may have re-encrypted the key: read it
			return sealed, err
		}
		c.forget()
	}
	select { // so that one request of this process makes the key of an hour
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return payment.SealedCode{}, ctx.Err() //nolint:wrapcheck // of the caller's own context
	}
	k := c.of(hour)
	if k == nil {
		found, err := c.store.CodeKey(ctx, hour)
		switch {
		case errors.Is(err, payment.ErrNotFound):
			return c.sealByNewKey(ctx, o, hour, s)
		case err != nil:
			return payment.SealedCode{}, err
		}
		k = &found
	}
	sealed, err := c.vault.SealCode(o, *k, s.Token, s.CVC)
	if foreignKey(err) {
		// The store has a code key of another vault, as after a restore. Its tokens are lost.
		return c.sealByNewKey(ctx, o, hour, s)
	}
	if err == nil {
		c.newest.Store(k)
	}
	return sealed, err
}

// foreignKey reports that the vault cannot open a code key.
func foreignKey(err error) bool {
	return errors.Is(err, vault.ErrUnknownKey) || errors.Is(err, vault.ErrNotHere)
}

// sealByNewKey makes the key of an hour, writes it and encrypts a code by it.
func (c *codes) sealByNewKey(
	ctx context.Context, o vault.Object, hour int64, s vault.Secrets,
) (payment.SealedCode, error) {
	k, err := c.vault.NewCodeKey(c.ids.Next(), hour)
	if err != nil {
		return payment.SealedCode{}, err
	}
	ctx = store.InBackground(ctx) // other tokens wait for the key, so the command must not wait for a client's turn
	if err := c.store.Update(ctx, func(tx *store.Tx) error { return tx.InsertCodeKey(k) }); err != nil {
		return payment.SealedCode{}, fmt.Errorf("make a code key: %w", err)
	}
	c.newest.Store(&k)
	return c.vault.SealCode(o, k, s.Token, s.CVC)
}

// destroy destroys the keys of security codes whose tokens have all expired. It also destroys the
// keys of hours after store.DB.LatestToken, which no right clock can have reached. The clock was
// ahead when they were made, so they would live too long. Their tokens are refused from then on.
func (c *codes) destroy(ctx context.Context) error {
	if k := c.newest.Load(); k != nil && k.Hour != payment.CodeHour(c.clock.Now()) {
		c.forget() // this process has a copy of the key, which must not outlive the stored one
	}
	return c.store.DestroyCodeKeys(ctx, func() (first, last int64) {
		hour, latest := payment.CodeHour(c.clock.Now()), payment.CodeHour(c.store.LatestToken())
		return hour - payment.CodeHours + 1, max(hour, latest) + 1
	})
}
