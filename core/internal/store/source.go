package store

import (
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// CheckSource returns nil if a payment can use s. Otherwise it returns the reason:
// payment.ErrNoCustomer, ErrNoSource, ErrOtherCustomer, ErrTokenUsed or ErrTokenExpired.
func (tx *Tx) CheckSource(tenant payment.Tenant, s payment.StoredSource) error {
	if err := tx.checkOwner(tenant, s); err != nil || s.Token == 0 {
		return err
	}
	return tx.checkToken(tenant, s.Token)
}

// UseSource is CheckSource, and uses the token up for the object by. It returns ErrChanged if the
// token was used and returned meanwhile.
func (tx *Tx) UseSource(tenant payment.Tenant, s payment.StoredSource, by int64) error {
	if err := tx.checkOwner(tenant, s); err != nil || s.Token == 0 {
		return err
	}
	err := tx.UseToken(tenant, s.Token, by)
	if !errors.Is(err, ErrConflict) {
		return err
	}
	if err := tx.checkToken(tenant, s.Token); err != nil {
		return err
	}
	return fmt.Errorf("a token that can be used: %w", ErrChanged)
}

// checkOwner checks the customer and the payment method of s.
func (tx *Tx) checkOwner(tenant payment.Tenant, s payment.StoredSource) error {
	if s.Customer != 0 {
		if _, err := tx.Customer(tenant, s.Customer); errors.Is(err, payment.ErrNotFound) {
			return payment.ErrNoCustomer
		} else if err != nil {
			return err
		}
	}
	if s.Method == 0 {
		return nil
	}
	m, err := tx.Method(tenant, s.Method)
	switch {
	case errors.Is(err, payment.ErrNotFound), err == nil && !m.DetachedAt.IsZero():
		return payment.ErrNoSource
	case err != nil:
		return err
	case s.Customer != 0 && m.Customer != s.Customer:
		return payment.ErrOtherCustomer
	}
	return nil
}

func (tx *Tx) checkToken(tenant payment.Tenant, id int64) error {
	t, err := tx.Token(tenant, id)
	switch {
	case errors.Is(err, payment.ErrNotFound):
		return payment.ErrNoSource
	case err != nil:
		return err
	case t.UsedBy != 0:
		return payment.ErrTokenUsed
	case !t.ExpiresAt.After(tx.Now):
		return payment.ErrTokenExpired
	}
	return nil
}
