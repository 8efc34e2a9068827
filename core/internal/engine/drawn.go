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

// Why a request may not draw on what it names. The request had no effect.
var (
	// ErrNoSource: there is no such token or payment method for this tenant, or no longer.
	ErrNoSource = errors.New("engine: no such token or payment method")
	// ErrTokenUsed: the token was used before.
	ErrTokenUsed = errors.New("engine: token used")
	// ErrTokenExpired: the token's hour is over.
	ErrTokenExpired = errors.New("engine: token expired")
	// ErrNoCustomer: there is no such customer for this tenant.
	ErrNoCustomer = errors.New("engine: no such customer")
	// ErrNoDefault: the customer has no default payment method.
	ErrNoDefault = errors.New("engine: customer without a default payment method")
	// ErrOtherCustomer: the payment method is another customer's.
	ErrOtherCustomer = errors.New("engine: payment method of another customer")
)

// Drawn is what a payment draws on in the store. The zero Drawn is a card that the request holds itself, or a test card.
type Drawn struct {
	Token    int64 // is used up by the payment; 0 for none
	Method   int64 // must be attached, and be Customer's when one is given; 0 for none
	Customer int64 // must exist; 0 for none

	// refusal is why it could not be used when it was looked at. It waits for the intent to be said, because an idempotency key that was
	// answered is answered again whatever has become of its source since.
	refusal error
	secrets vault.Secrets // of the token: the security code comes back with it when the payment is taken back
}

// Stored is a token or payment method that a payment names.
type Stored struct {
	Kind    string
	Details []byte        // what may be known of it
	Secrets vault.Secrets // nothing when it cannot be used, which its intent will say
	Drawn   Drawn
}

// Stored finds the token or payment method by its id, else ErrNoSource. It lives as long as the call.
func (e *Engine) Stored(ctx context.Context, t payment.Tenant, name string) (Stored, error) {
	if n, err := id.Parse(id.Token, name); err == nil {
		return e.storedToken(ctx, t, n)
	}
	n, err := id.Parse(id.PaymentMethod, name)
	if err != nil {
		return Stored{}, ErrNoSource
	}
	m, secrets, err := opened(e, func() (*payment.Method, payment.Sealed, error) {
		m, err := e.Store.Method(ctx, t, n)
		if err != nil {
			return nil, payment.Sealed{}, err
		}
		return m, m.Sealed, nil
	}, vault.Object{Tenant: t, ID: name})
	if err != nil {
		return Stored{}, err
	}
	out := Stored{Kind: m.Kind, Details: m.Details, Secrets: secrets, Drawn: Drawn{Method: m.ID, Customer: m.Customer}}
	if !m.DetachedAt.IsZero() {
		out.Drawn.refusal = ErrNoSource
	}
	return out, nil
}

// Default finds what a customer pays with when nothing is named, and its id. Why there is nothing is said by the intent, and the id is "" then.
func (e *Engine) Default(ctx context.Context, t payment.Tenant, customer int64) (Stored, string, error) {
	c, err := e.Store.Customer(ctx, t, customer)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return Stored{Drawn: Drawn{refusal: ErrNoCustomer}}, "", nil
	case err != nil:
		return Stored{}, "", err
	case c.Default == 0:
		return Stored{Drawn: Drawn{refusal: ErrNoDefault}}, "", nil
	}
	name := id.Format(id.PaymentMethod, c.Default)
	s, err := e.Stored(ctx, t, name)
	return s, name, err
}

func (e *Engine) storedToken(ctx context.Context, tenant payment.Tenant, n int64) (Stored, error) {
	t, secrets, err := opened(e, func() (*payment.Token, payment.Sealed, error) {
		t, err := e.Store.Token(ctx, tenant, n)
		if err != nil {
			return nil, payment.Sealed{}, err
		}
		return t, t.Sealed, nil
	}, vault.Object{Tenant: tenant, ID: id.Format(id.Token, n)})
	if err != nil {
		return Stored{}, err
	}
	out := Stored{Kind: t.Kind, Details: t.Details, Secrets: secrets, Drawn: Drawn{Token: t.ID, refusal: e.whyNotToken(t), secrets: secrets}}
	if out.Drawn.refusal != nil {
		out.Secrets, out.Drawn.secrets = vault.Secrets{}, vault.Secrets{}
	}
	return out, nil
}

// opened reads and opens a row. It reads a second time when the row's key is not known: a rotation has then resealed the row, and dropped
// the key, between the two.
func opened[T any](e *Engine, read func() (T, payment.Sealed, error), o vault.Object) (T, vault.Secrets, error) {
	for again := false; ; again = true {
		row, sealed, err := read()
		if errors.Is(err, store.ErrNotFound) {
			return row, vault.Secrets{}, ErrNoSource
		}
		if err != nil {
			return row, vault.Secrets{}, err
		}
		secrets, err := e.Vault.Open(o, sealed)
		if !errors.Is(err, vault.ErrUnknownKey) || again {
			return row, secrets, err
		}
	}
}

// whyNotToken is why a token cannot be used, nil when it can.
func (e *Engine) whyNotToken(t *payment.Token) error {
	switch {
	case t.UsedBy != 0:
		return ErrTokenUsed
	case !t.ExpiresAt.After(e.Clock.Now()):
		return ErrTokenExpired
	}
	return nil
}

// draw makes sure, in the commit of the intent of by, that what it draws on can be drawn on, and uses a token up.
func (e *Engine) draw(tx *store.Tx, tenant payment.Tenant, s Drawn, by int64) error {
	if s.refusal != nil {
		return s.refusal
	}
	if s.Customer != 0 {
		if _, err := tx.Customer(tenant, s.Customer); errors.Is(err, store.ErrNotFound) {
			return ErrNoCustomer
		} else if err != nil {
			return err
		}
	}
	if s.Method != 0 {
		if err := e.drawMethod(tx, tenant, s); err != nil {
			return err
		}
	}
	if s.Token == 0 {
		return nil
	}
	return e.useToken(tx, tenant, s.Token, by)
}

func (e *Engine) drawMethod(tx *store.Tx, tenant payment.Tenant, s Drawn) error {
	m, err := tx.Method(tenant, s.Method)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && !m.DetachedAt.IsZero():
		return ErrNoSource
	case err != nil:
		return err
	case s.Customer != 0 && m.Customer != s.Customer:
		return ErrOtherCustomer
	}
	return nil
}

func (e *Engine) useToken(tx *store.Tx, tenant payment.Tenant, token, by int64) error {
	err := tx.UseToken(tenant, token, by)
	if !errors.Is(err, store.ErrConflict) {
		return err
	}
	t, err := tx.Token(tenant, token)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return ErrNoSource
	case err != nil:
		return err
	case t.UsedBy != 0:
		return ErrTokenUsed
	case t.ExpiresAt.After(tx.Now):
		return fmt.Errorf("a token that can be used: %w", store.ErrChanged) // it was used, and came back
	}
	return ErrTokenExpired
}

// returned runs write with the token of a payment that is taken back, sealed again with the security code that the first use has wiped.
// The code is known only while the process that used it lives; without it, a token that had one stays used.
func (e *Engine) returned(t *payment.Transaction, s vault.Secrets, write func(token int64, sealed payment.Sealed) error) error {
	n, err := id.Parse(id.Token, t.PaymentMethod)
	if err != nil {
		return write(0, payment.Sealed{})
	}
	if s.CVC.IsZero() {
		return write(n, payment.Sealed{})
	}
	return e.resealing(func() error {
		sealed, err := e.Vault.Seal(vault.Object{Tenant: t.Tenant, ID: t.PaymentMethod}, s)
		if err != nil {
			return err
		}
		return write(n, sealed)
	})
}

// resealing runs fn, which seals and commits, again when the id it drew is taken or a rotation has retired the key it sealed by.
func (e *Engine) resealing(fn func() error) error {
	for attempt := 0; ; attempt++ {
		err := fn()
		retired := errors.Is(err, store.ErrKeyRetired)
		if !retired && !errors.Is(err, store.ErrDuplicate) || attempt == 3 {
			return err
		}
		if retired {
			if err := e.Vault.Refresh(); err != nil {
				return fmt.Errorf("after a rotation: %w", err)
			}
		}
	}
}
