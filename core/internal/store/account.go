package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	insertAccount         = declare("insertAccount")
	selectAccount         = declare("selectAccount")
	lockAccount           = declare("lockAccount")
	selectEnabledAccounts = declare("selectEnabledAccounts")
	selectAllAccounts     = declare("selectAllAccounts")
	countEnabledAccounts  = declare("countEnabledAccounts")
	rotateAccount         = declare("rotateAccount")
	setAccountState       = declare("setAccountState")
	selectAccountsAfter   = declare("selectAccountsAfter")
	selectAccountsBefore  = declare("selectAccountsBefore")
	selectSealedAccounts  = declare("selectSealedAccounts")
	resealAccount         = declare("resealAccount")
	countAccountSteps     = declare("countAccountSteps")
)

// InsertAccount inserts an enabled account, and fills in its state, version and times. It returns
// payment.ErrAccountExists if the merchant has an enabled one of the same currency, method and
// rank, and ErrDuplicate if the id is taken. It returns ErrKeyRetired if a rotation has retired the
// key of the credentials.
func (tx *Tx) InsertAccount(a *payment.Account) error {
	if err := tx.onlyAccount(a); err != nil {
		return err
	}
	if err := tx.current(a.VaultKey); err != nil {
		return err
	}
	a.State, a.Version = payment.AccountEnabled, 1
	a.CreatedAt, a.UpdatedAt, a.RotatedAt = tx.Now, tx.Now, tx.Now
	return tx.insert(insertAccount, a.ID, a.Merchant, a.Currency, a.Method, a.Rank, a.Kind, string(a.Profile),
		a.VaultKey, a.Credentials, toMillis(tx.Now))
}

// onlyAccount returns payment.ErrAccountExists if the merchant has an enabled account that serves
// the same payments. No other command enables one before this one ends.
func (tx *Tx) onlyAccount(a *payment.Account) error {
	if err := tx.lock("accounts", a.Merchant); err != nil {
		return err
	}
	row, err := tx.row(countEnabledAccounts, a.Merchant, a.Currency, a.Method, a.Rank)
	if err != nil {
		return err
	}
	n, err := scanNumber(row)
	if err == nil && n > 0 {
		err = payment.ErrAccountExists
	}
	return err
}

// LockedAccount reads an account and locks its row until the command ends, else ErrNotFound.
func (tx *Tx) LockedAccount(id int64) (*payment.Account, error) {
	row, err := tx.row(lockAccount, id)
	if err != nil {
		return nil, err
	}
	return scanAccount(row)
}

// RotateAccount replaces the credentials of the account a, which LockedAccount has returned, and
// returns the account as it is now. It returns ErrKeyRetired as InsertAccount does.
func (tx *Tx) RotateAccount(a *payment.Account, key uint32, credentials []byte) (*payment.Account, error) {
	if err := tx.current(key); err != nil {
		return nil, err
	}
	now := *a
	now.VaultKey, now.Credentials, now.Version = key, credentials, a.Version+1
	now.UpdatedAt, now.RotatedAt = tx.Now, tx.Now
	return &now, tx.execOne(rotateAccount, key, credentials, toMillis(tx.Now), a.ID)
}

// SetAccountState enables or disables the account a, which LockedAccount has returned, and returns
// it as it is now. An account that has the state already stays as it is. It returns
// payment.ErrAccountExists as InsertAccount does.
func (tx *Tx) SetAccountState(a *payment.Account, state payment.AccountState) (*payment.Account, error) {
	now := *a
	if a.State == state {
		return &now, nil
	}
	if state == payment.AccountEnabled {
		if err := tx.onlyAccount(a); err != nil {
			return nil, err
		}
	}
	now.State, now.Version, now.UpdatedAt = state, a.Version+1, tx.Now
	return &now, tx.execOne(setAccountState, string(state), toMillis(tx.Now), a.ID)
}

// Account reads an account in any state, else ErrNotFound.
func (db *DB) Account(ctx context.Context, id int64) (*payment.Account, error) {
	return scanAccount(db.essential(ctx, selectAccount, id))
}

// EnabledAccounts returns the enabled accounts of a merchant, in the order of their ranks.
func (db *DB) EnabledAccounts(ctx context.Context, merchant int64) ([]*payment.Account, error) {
	return read(ctx, db, Essential, selectEnabledAccounts, scanAccount, merchant)
}

// AllAccounts returns all accounts, oldest first, including disabled ones.
func (db *DB) AllAccounts(ctx context.Context) ([]*payment.Account, error) {
	return backgroundRows(ctx, db, selectAllAccounts, scanAccount)
}

// Accounts lists the accounts of a merchant, newest first, including disabled ones; 0 for the
// accounts of all merchants.
func (db *DB) Accounts(ctx context.Context, merchant int64, p payment.Page) (payment.List[*payment.Account], error) {
	var l payment.List[*payment.Account]
	var err error
	if p.Before != 0 {
		l.Rows, err = listed(ctx, db, payment.Tenant{}, selectAccountsBefore, scanAccount, merchant, p.Before, p.Limit+1)
	} else {
		after := cmp.Or(p.After, math.MaxInt64)
		l.Rows, err = listed(ctx, db, payment.Tenant{}, selectAccountsAfter, scanAccount, merchant, after, p.Limit+1)
	}
	if l.More = len(l.Rows) > p.Limit; l.More {
		l.Rows = l.Rows[:p.Limit]
	}
	if p.Before != 0 {
		slices.Reverse(l.Rows)
	}
	return l, err
}

// AccountSteps counts the unfinished steps and pending reversals that have not changed since a
// time, by account. Accounts without any are missing.
func (db *DB) AccountSteps(ctx context.Context, since time.Time) (map[int64]int64, error) {
	type count struct{ account, steps int64 }
	found, err := backgroundRows(ctx, db, countAccountSteps, func(row Scanner) (c count, err error) {
		return c, row.Scan(&c.account, &c.steps)
	}, toMillis(since))
	out := make(map[int64]int64, len(found))
	for _, c := range found {
		out[c.account] = c.steps
	}
	return out, err
}

// SealedAccounts is SealedTokens for the credentials of accounts.
func (db *DB) SealedAccounts(ctx context.Context, key uint32, after int64, limit int) ([]Sealed, error) {
	return backgroundRows(ctx, db, selectSealedAccounts, scanSealed, key, after, limit)
}

// ResealAccount is ResealToken for the credentials of accounts. It does nothing if they were
// replaced meanwhile.
func (tx *Tx) ResealAccount(id int64, old uint32, s payment.Sealed) error {
	return tx.exec(resealAccount, s.Key, s.Number, id, old)
}

func scanAccount(row Scanner) (*payment.Account, error) {
	var (
		a                         payment.Account
		state                     string
		created, updated, rotated int64
	)
	err := row.Scan(&a.ID, &a.Merchant, &a.Currency, &a.Method, &a.Rank, &a.Kind, &a.Profile, &a.VaultKey, &a.Credentials,
		&state, &a.Version, &created, &updated, &rotated)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read account: %w", err)
	}
	a.State = payment.AccountState(state)
	a.CreatedAt, a.UpdatedAt, a.RotatedAt = fromMillis(created), fromMillis(updated), fromMillis(rotated)
	return &a, nil
}
