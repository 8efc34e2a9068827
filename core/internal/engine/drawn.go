package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Reasons for which a payment source cannot be used, besides the reasons of package payment. The
// request had no effect.
var (
	// ErrCodeLost reports that the token's security code is lost, for example after a failover of the
	// store. A payment without the code must not be made.
	ErrCodeLost = errors.New("engine: the token's security code is lost")
	// ErrNoDefault reports that the customer has no default payment method.
	ErrNoDefault = errors.New("engine: customer without a default payment method")
)

// Drawn is the stored payment source of a payment: see payment.StoredSource. The zero Drawn is a
// card that the request holds, or a test card.
type Drawn struct {
	Token    int64 // 0 for none, as in the fields below
	Method   int64
	Customer int64

	// refusal is why the source cannot be used. The intent returns it after the key lookup, because a
	// stored response has precedence.
	refusal error
	secrets vault.Secrets // of the token, which gets its security code back if the payment is undone
	code    []byte        // of the token, encrypted, if it does not open
}

// Stored is a token or payment method that a payment names.
type Stored struct {
	Kind    string
	Details []byte        // that responses may show
	Secrets vault.Secrets // the zero value if the source cannot be used: its intent returns the reason
	Drawn   Drawn
}

// Stored finds a token by its value, or a payment method by its id. It returns payment.ErrNoSource
// if there is none. The secrets live as long as the call.
func (e *Engine) Stored(ctx context.Context, t payment.Tenant, name string) (Stored, error) {
	if n, ok := payment.TokenOfValue(name); ok {
		return e.storedToken(ctx, t, n, secret.New(name))
	}
	n, err := id.Parse(id.PaymentMethod, name)
	if err != nil {
		return Stored{}, payment.ErrNoSource
	}
	m, secrets, err := opened(e, func() (*payment.Method, payment.Sealed, error) {
		m, err := e.Store.Method(ctx, t, n)
		if err != nil {
			return nil, payment.Sealed{}, err
		}
		return m, m.Sealed, nil
	}, vault.Object{Tenant: t, ID: name})
	wiped := errors.Is(err, vault.ErrWiped)
	if err != nil && !wiped {
		return Stored{}, err
	}
	out := Stored{Kind: m.Kind, Details: m.Details, Secrets: secrets, Drawn: Drawn{Method: m.ID, Customer: m.Customer}}
	if wiped || !m.DetachedAt.IsZero() {
		out.Drawn.refusal = payment.ErrNoSource
	}
	return out, nil
}

// Default finds the default payment method of a customer, and its id. If there is none, the id is
// "" and the intent returns the reason.
func (e *Engine) Default(ctx context.Context, t payment.Tenant, customer int64) (Stored, string, error) {
	c, err := e.Store.Customer(ctx, t, customer)
	switch {
	case errors.Is(err, payment.ErrNotFound):
		return Stored{Drawn: Drawn{refusal: payment.ErrNoCustomer}}, "", nil
	case err != nil:
		return Stored{}, "", err
	case c.Default == 0:
		return Stored{Drawn: Drawn{refusal: ErrNoDefault}}, "", nil
	}
	name := id.Format(id.PaymentMethod, c.Default)
	s, err := e.Stored(ctx, t, name)
	return s, name, err
}

func (e *Engine) storedToken(ctx context.Context, tenant payment.Tenant, n int64, value secret.String) (Stored, error) {
	o := vault.Object{Tenant: tenant, ID: id.Format(id.Token, n)}
	t, secrets, err := opened(e, func() (*payment.Token, payment.Sealed, error) {
		t, err := e.Store.Token(ctx, tenant, n)
		if err == nil && !t.Opens(value) {
			err = payment.ErrNotFound
		}
		if err != nil {
			return nil, payment.Sealed{}, err
		}
		return t, t.Sealed, nil
	}, o)
	if err != nil && !errors.Is(err, vault.ErrWiped) { // whyNotToken refuses a token without its number
		return Stored{}, err
	}
	secrets.Token = value
	why := e.whyNotToken(t)
	if t.CVCGiven && why == nil {
		if secrets.CVC, err = e.openCode(ctx, t, value); err != nil && !lostCode(err) {
			return Stored{}, err
		} else if err != nil {
			why = ErrCodeLost
		}
	}
	out := Stored{Kind: t.Kind, Details: t.Details, Secrets: secrets, Drawn: Drawn{Token: t.ID, refusal: why, secrets: secrets, code: t.Sealed.Code.Text}}
	if why != nil && !errors.Is(why, ErrCodeLost) {
		out.Secrets, out.Drawn.secrets = vault.Secrets{}, vault.Secrets{}
	}
	return out, nil
}

// lostCode reports whether err means that a security code cannot be opened any more.
func lostCode(err error) bool {
	return errors.Is(err, vault.ErrCodeGone) || errors.Is(err, vault.ErrUnknownKey) || errors.Is(err, vault.ErrNotHere)
}

// openCode opens a token's security code. It reads the token a second time if a rotation may have
// re-encrypted the code's key since the first read.
func (e *Engine) openCode(ctx context.Context, t *payment.Token, value secret.String) (secret.String, error) {
	o := vault.Object{Tenant: t.Tenant, ID: id.Format(id.Token, t.ID)}
	code, err := e.Vault.OpenCode(o, t.Sealed.Code, value)
	if lostCode(err) {
		if t, err = e.Store.Token(ctx, t.Tenant, t.ID); err != nil {
			return secret.String{}, err
		}
		code, err = e.Vault.OpenCode(o, t.Sealed.Code, value)
	}
	return code, err
}

// opened reads and opens a row. It reads a second time if the row's key is unknown: a rotation has
// then resealed the row, and dropped the key, between the two. It also returns the row with
// vault.ErrWiped.
func opened[T any](e *Engine, read func() (T, payment.Sealed, error), o vault.Object) (T, vault.Secrets, error) {
	for again := false; ; again = true {
		row, sealed, err := read()
		if errors.Is(err, payment.ErrNotFound) {
			return row, vault.Secrets{}, payment.ErrNoSource
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

// whyNotToken returns the reason for which a token cannot be used, nil if it can. A token without
// its number has expired, even if the clock was set back after the number was wiped.
func (e *Engine) whyNotToken(t *payment.Token) error {
	switch {
	case t.UsedBy != 0:
		return payment.ErrTokenUsed
	case len(t.Sealed.Number) == 0, !t.ExpiresAt.After(e.Clock.Now()):
		return payment.ErrTokenExpired
	}
	return nil
}

// Refused reports whether the source cannot be used. Its intent returns the reason.
func (s Drawn) Refused() bool { return s.refusal != nil }

// stored returns the ids of the source's objects.
func (s Drawn) stored() payment.StoredSource {
	return payment.StoredSource{Customer: s.Customer, Method: s.Method, Token: s.Token}
}

// draw checks the payment source of an intent in the intent's commit. It marks a token as used by
// the object by.
func (e *Engine) draw(tx *store.Tx, tenant payment.Tenant, s Drawn, by int64) error {
	if s.refusal != nil {
		return e.confirmRefusal(tx, tenant, s)
	}
	return tx.UseSource(tenant, s.stored(), by)
}

// confirmRefusal returns why a token or payment method cannot be used. It looks once more for a
// code that a read did not find. Between the reads of token and code, the token may have been used,
// or its code may have been restored. It returns ErrBusy in the second case.
func (e *Engine) confirmRefusal(tx *store.Tx, tenant payment.Tenant, s Drawn) error {
	if !errors.Is(s.refusal, ErrCodeLost) {
		return s.refusal
	}
	t, err := tx.Token(tenant, s.Token)
	switch {
	case errors.Is(err, payment.ErrNotFound):
		return payment.ErrNoSource
	case err != nil:
		return err
	}
	if why := e.whyNotToken(t); why != nil {
		return why
	}
	if found := t.Sealed.Code; len(found.Text) > 0 && string(found.Text) != string(s.code) {
		return fmt.Errorf("the token's security code was restored meanwhile: %w", store.ErrBusy)
	}
	return ErrCodeLost
}

// returned runs write with the token of a payment that is rolled back. It seals the token again,
// with the security code that the first use has wiped. Only the process that used the token has the
// code. Without the code, a token that had one stays used.
func (e *Engine) returned(
	ctx context.Context, t *payment.Transaction, s vault.Secrets, write func(token int64, sealed payment.Sealed) error,
) error {
	n, err := id.Parse(id.Token, t.PaymentMethod)
	if err != nil {
		return write(0, payment.Sealed{})
	}
	if s.CVC.IsZero() {
		return write(n, payment.Sealed{})
	}
	return e.resealing(func() error {
		code, err := e.codes.seal(context.WithoutCancel(ctx), t.Tenant, n, s)
		if err != nil {
			return err
		}
		return write(n, payment.Sealed{Code: code})
	})
}

// resealing runs fn, which seals and commits. It runs fn again if the drawn id is taken, a rotation
// has retired the key, or the store has lost the hour's key.
func (e *Engine) resealing(fn func() error) error {
	for attempt := 0; ; attempt++ {
		err := fn()
		retired := errors.Is(err, store.ErrKeyRetired)
		gone := errors.Is(err, store.ErrCodeKeyGone)
		if !retired && !errors.Is(err, store.ErrDuplicate) && !gone || attempt == 3 {
			return err
		}
		if retired || gone {
			e.codes.forget()
		}
		if retired {
			if err := e.Vault.Refresh(); err != nil {
				return fmt.Errorf("after a rotation: %w", err)
			}
		}
	}
}
