package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// accounts opens the vault, and returns the accounts with an engine that seals.
func (a *Admin) accounts(ctx context.Context) (*account.Accounts, *engine.Engine, error) {
	v, err := a.dir.CommandVault(ctx)
	if err != nil {
		return nil, nil, err
	}
	return account.New(account.Config{Store: a.db, Vault: v, Clock: a.dir.Clock, Kinds: a.kinds}), a.sealing(v), nil
}

// AddAccount adds an account at an acquirer for live mode, and returns its id. Unless the operator
// has ruled that out, the acquirer must first accept the credentials.
func (a *Admin) AddAccount(ctx context.Context, in operator.AccountCreate) (string, error) {
	if err := checkAccountTexts(in); err != nil {
		return "", err
	}
	accounts, eng, err := a.accounts(ctx)
	if err != nil {
		return "", err
	}
	var made string
	err = a.act(ctx, "accounts.add", "", func(r engine.Request) error {
		row, credentials, err := accounts.Create(ctx, in)
		if err != nil {
			return err
		}
		result, err := eng.AddAccount(ctx, r, *row, credentials)
		if added, ok := result.Object.(*payment.Account); ok {
			made = id.Format(id.Account, added.ID)
		}
		return err
	})
	return made, unchanged(accountError(err))
}

// checkAccountTexts rejects an account with a card number in a text that is stored in clear. The
// error is an operator.FieldError.
func checkAccountTexts(in operator.AccountCreate) error {
	if err := checkText("base URL", in.BaseURL); err != nil {
		return &operator.FieldError{Field: "base_url", Text: "base_url: " + err.Error()}
	}
	for name, value := range in.Settings {
		if err := cmp.Or(checkText("name of a setting", name), checkText("setting", value)); err != nil {
			return &operator.FieldError{Field: "settings", Text: "settings: " + err.Error()}
		}
	}
	return nil
}

// RotateAccount replaces the credentials of an account, acct_….
func (a *Admin) RotateAccount(ctx context.Context, name string, in operator.AccountRotate) error {
	return unchanged(a.onAccount(ctx, "accounts.rotate", name, func(on accountAction) error {
		credentials, err := on.accounts.Rotate(ctx, on.account, in)
		if err == nil {
			_, err = on.engine.RotateAccount(ctx, on.request, on.account, credentials)
		}
		return err
	}))
}

// CheckAccount checks the credentials of an account, acct_…, at the acquirer. It moves no money.
func (a *Admin) CheckAccount(ctx context.Context, name string) error {
	return a.onAccount(ctx, "accounts.check", name, func(on accountAction) error {
		err := on.accounts.Check(ctx, on.account)
		if err == nil {
			_, err = on.engine.AccountChecked(ctx, on.request, on.account)
		}
		return err
	})
}

// DisableAccount disables an account, acct_…, or enables it again. Open payments of a disabled
// account still finish.
func (a *Admin) DisableAccount(ctx context.Context, name string, disabled bool) error {
	action, state := "accounts.enable", payment.AccountEnabled
	if disabled {
		action, state = "accounts.disable", payment.AccountDisabled
	}
	return a.onAccount(ctx, action, name, func(on accountAction) error {
		_, err := on.engine.SwitchAccount(ctx, on.request, on.account, state)
		if !errors.Is(err, payment.ErrAccountExists) {
			return err
		}
		row, failed := a.db.Account(ctx, on.account)
		if failed == nil {
			failed = on.accounts.Free(ctx, row)
		}
		return cmp.Or(failed, err)
	})
}

// accountAction is an action on an account that has begun.
type accountAction struct {
	accounts *account.Accounts
	engine   *engine.Engine // which seals
	request  engine.Request
	account  int64
}

// onAccount runs an action on an account by its id.
func (a *Admin) onAccount(ctx context.Context, action, name string, fn func(accountAction) error) error {
	n, err := id.Parse(id.Account, name)
	if err != nil {
		return fmt.Errorf("account %q: %w", name, err)
	}
	accounts, eng, err := a.accounts(ctx)
	if err != nil {
		return err
	}
	err = a.act(ctx, action, name, func(r engine.Request) error { return fn(accountAction{accounts, eng, r, n}) })
	if errors.Is(err, payment.ErrNotFound) {
		return fmt.Errorf("account %s does not exist: see core accounts list", name)
	}
	return accountError(err)
}

// unchanged adds to the error of a failed check that it has prevented the change.
func unchanged(err error) error {
	if _, ok := errors.AsType[*account.CheckError](err); ok {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	return err
}

// accountError explains an error to the operator.
func accountError(err error) error {
	taken, ok := errors.AsType[*account.ExistsError](err)
	switch {
	case ok && taken.Second:
		return fmt.Errorf("%s is already the second account for this currency and method: disable it first", taken.Account)
	case ok && taken.Sandbox:
		return fmt.Errorf("%s is already the account for this currency and method: disable it first, "+
			"and use one merchant for the sandbox, another one for production", taken.Account)
	case ok:
		return fmt.Errorf("%s is already the account for this currency and method: disable it first, "+
			"or add a second one for failover with --second", taken.Account)
	}
	return err
}

// ListAccounts returns all accounts, oldest first.
func (a *Admin) ListAccounts(ctx context.Context) ([]operator.Account, error) {
	found, err := a.db.AllAccounts(ctx)
	if err != nil {
		return nil, fmt.Errorf("list accounts: %w", err)
	}
	out := make([]operator.Account, 0, len(found))
	for _, one := range found {
		out = append(out, api.ShowAccount(one))
	}
	return out, nil
}
