package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// serves reports whether payments of the tenant's mode are possible.
func (e *Engine) serves(t payment.Tenant) bool { return !t.Live || e.Live != nil }

// accounts returns the accounts for a new payment, in the order in which they are tried. Test mode
// has only the test acquirer, as account 0.
func (e *Engine) accounts(
	ctx context.Context, t payment.Tenant, currency string, m acquirer.Method,
) ([]acquirer.Account, error) {
	if !t.Live {
		return []acquirer.Account{{Acquirer: e.Test}}, nil
	}
	if e.Live == nil {
		return nil, ErrNoAcquirer
	}
	found, err := e.Live.ForPayment(ctx, t.Merchant, currency, m)
	if err == nil && len(found) == 0 {
		err = acquirer.ErrNoAccount
	}
	if errors.Is(err, acquirer.ErrUnavailable) {
		return nil, fmt.Errorf("%w: %w", ErrAcquirerUnavailable, err)
	}
	return found, noAcquirer(err)
}

// account returns the acquirer of a stored payment or step.
func (e *Engine) account(ctx context.Context, t payment.Tenant, id int64) (acquirer.Acquirer, error) {
	a, err := e.storedAccount(ctx, t, id)
	return a.Acquirer, err
}

// storedAccount returns the account of a stored payment or step. Live mode has no account 0, and
// test mode has no other.
func (e *Engine) storedAccount(ctx context.Context, t payment.Tenant, id int64) (acquirer.Account, error) {
	switch {
	case !t.Live && id == 0:
		return acquirer.Account{Acquirer: e.Test}, nil
	case t.Live && id != 0 && e.Live != nil:
		a, err := e.Live.Account(ctx, t.Merchant, id)
		return a, noAcquirer(err)
	}
	return acquirer.Account{}, ErrNoAcquirer
}

// accountName returns an account as operators see it, "" for the simulator.
func accountName(account int64) string {
	if account == 0 {
		return ""
	}
	return id.Format(id.Account, account)
}

// noAcquirer makes acquirer.ErrNoAccount also an ErrNoAcquirer.
func noAcquirer(err error) error {
	if errors.Is(err, acquirer.ErrNoAccount) {
		return fmt.Errorf("%w: %w", ErrNoAcquirer, err)
	}
	return err
}

// route returns the accounts for a new payment, beginning with the first that can send now, and the
// tag of the request to that account. It returns ErrAcquirerUnavailable if none can.
func (e *Engine) route(
	ctx context.Context, t payment.Tenant, currency string, s acquirer.Source,
) (routes []acquirer.Account, tag string, err error) {
	routes, err = e.accounts(ctx, t, currency, methodOf(s))
	if err != nil {
		return nil, "", err
	}
	for i, a := range routes {
		if tag, err = prepare(ctx, a.Acquirer); err == nil {
			return routes[i:], tag, nil
		}
	}
	return nil, "", err
}

// methodOf returns the kind of a payment source. A stored source that cannot be used has no number.
func methodOf(s acquirer.Source) acquirer.Method {
	if s.BankAccount.RoutingNumber != "" {
		return acquirer.BankAccountMethod
	}
	return acquirer.CardMethod
}

// anyAccount returns ErrNoAcquirer if the merchant has no account for any payment source.
func (e *Engine) anyAccount(ctx context.Context, t payment.Tenant, currency string) error {
	_, err := e.accounts(ctx, t, currency, acquirer.CardMethod)
	if errors.Is(err, acquirer.ErrNoAccount) {
		_, err = e.accounts(ctx, t, currency, acquirer.BankAccountMethod)
	}
	return err
}

// prepare returns the tag of the next request to an acquirer, else ErrAcquirerUnavailable.
func prepare(ctx context.Context, a acquirer.Acquirer) (string, error) {
	tag, err := a.Prepare(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrAcquirerUnavailable, err)
	}
	return tag, nil
}

// follower returns the account for a step on a transaction, and the tag of the step. It returns
// payment.ErrNotFound if the transaction does not exist. A transaction of live mode that was not
// confirmed has no account, and allows no step that needs one.
func (e *Engine) follower(
	ctx context.Context, t payment.Tenant, transaction int64,
) (a acquirer.Account, tag string, err error) {
	account := int64(0)
	if t.Live { // in test mode the account is known
		stored, err := e.Store.Transaction(ctx, t, transaction)
		if err != nil || stored.Account == 0 && stored.Authorized == 0 && e.Live != nil {
			return acquirer.Account{}, "", err
		}
		account = stored.Account
	}
	if a, err = e.storedAccount(ctx, t, account); err == nil {
		tag, err = prepare(ctx, a.Acquirer)
	}
	return a, tag, err
}

// moved refuses a step on a transaction that has another account than the step was prepared for. A
// retry can succeed.
func moved(t *payment.Transaction, account int64) *payment.Refusal {
	if t.Account != account {
		return payment.Busy()
	}
	return nil
}

// unsent ends a request that cannot be sent. It returns the response that is stored under the
// idempotency key, else why. Its command claims the key, as refuseSource does.
func (e *Engine) unsent(ctx context.Context, r Request, why error) (Result, error) {
	out, err := e.intent(ctx, r, func(*store.Tx, int64) (*Result, error) { return nil, why })
	return value(out), err
}
