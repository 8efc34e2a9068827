package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// ErrNoMerchant reports that the merchant of a new account does not exist.
var ErrNoMerchant = errors.New("engine: the merchant of the account does not exist")

// AccountCheck is a check of an account's credentials that the acquirer has passed.
type AccountCheck struct {
	Account int64
	At      time.Time
}

// AddAccount stores an enabled account with its credentials, which it seals. It returns
// ErrNoMerchant, or payment.ErrAccountExists if the merchant has an enabled account for the same
// payments.
func (e *Engine) AddAccount(
	ctx context.Context, r Request, a payment.Account, credentials secret.String,
) (Result, error) {
	defer e.running.enter(ctx, r)()
	var out *Result
	err := e.resealing(func() (err error) {
		made := a
		made.ID = e.IDs.Next()
		made.VaultKey, made.Credentials, err = e.Vault.SealCredentials(vault.AccountObject(&made), credentials)
		if err != nil {
			return err
		}
		out, err = e.intentOnce(ctx, r.caller(), r, func(tx *store.Tx, _ int64) (*Result, error) {
			_, err := tx.Merchant(made.Merchant)
			if errors.Is(err, payment.ErrNotFound) {
				return nil, ErrNoMerchant
			}
			if err == nil {
				err = tx.InsertAccount(&made)
			}
			if err != nil {
				return nil, err
			}
			result := e.created(&made)
			return &result, e.Audit(tx, r, Action{
				Name: "accounts.add", Object: id.Format(id.Account, made.ID), After: string(result.Body),
			})
		})
		return err
	})
	return value(out), err
}

// RotateAccount replaces the credentials of an account, and seals the new ones. It returns
// payment.ErrNotFound if there is no such account.
func (e *Engine) RotateAccount(ctx context.Context, r Request, account int64, credentials secret.String) (Result, error) {
	defer e.running.enter(ctx, r)()
	row, err := e.Store.Account(ctx, account)
	if err != nil {
		return Result{}, err
	}
	var out *Result
	err = e.resealing(func() error {
		key, sealed, err := e.Vault.SealCredentials(vault.AccountObject(row), credentials)
		if err != nil {
			return err
		}
		out, err = e.changeAccount(ctx, r, account, "accounts.rotate",
			func(tx *store.Tx, a *payment.Account) (*payment.Account, error) {
				return tx.RotateAccount(a, key, sealed)
			})
		return err
	})
	return value(out), err
}

// SwitchAccount enables or disables an account. A disabled account gets no new payments, and its
// open payments finish. It returns payment.ErrNotFound, or payment.ErrAccountExists if the merchant
// has another enabled account for the same payments.
func (e *Engine) SwitchAccount(
	ctx context.Context, r Request, account int64, state payment.AccountState,
) (Result, error) {
	defer e.running.enter(ctx, r)()
	action := "accounts.enable"
	if state == payment.AccountDisabled {
		action = "accounts.disable"
	}
	out, err := e.changeAccount(ctx, r, account, action,
		func(tx *store.Tx, a *payment.Account) (*payment.Account, error) { return tx.SetAccountState(a, state) })
	return value(out), err
}

func (e *Engine) changeAccount(
	ctx context.Context, r Request, account int64, action string,
	change func(*store.Tx, *payment.Account) (*payment.Account, error),
) (*Result, error) {
	return e.intentOnce(ctx, r.caller(), r, func(tx *store.Tx, _ int64) (*Result, error) {
		before, err := tx.LockedAccount(account)
		if err != nil {
			return nil, err
		}
		after, err := change(tx, before)
		if err != nil {
			return nil, err
		}
		result := e.existing(after)
		return &result, e.Audit(tx, r, Action{
			Name: action, Object: id.Format(id.Account, account), Before: string(e.shown(before)), After: string(result.Body),
		})
	})
}

// AccountChecked stores the response to a check of an account that the acquirer has passed.
func (e *Engine) AccountChecked(ctx context.Context, r Request, account int64) (Result, error) {
	defer e.running.enter(ctx, r)()
	out, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		result := e.existing(&AccountCheck{Account: account, At: tx.Now})
		return &result, e.Audit(tx, r, Action{Name: "accounts.check", Object: id.Format(id.Account, account)})
	})
	if err != nil {
		return Result{}, fmt.Errorf("record the check of an account: %w", err)
	}
	return value(out), nil
}
