package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// account returns an account for cards and US dollars of the merchant 7, sealed by the key 1.
func account(id int64, rank int) *payment.Account {
	return &payment.Account{
		ID: id, Merchant: tenant.Merchant, Currency: "usd", Method: "card", Rank: rank, Kind: "provider-a",
		Profile: []byte(`{"base_url":"https://api.example.com"}`), VaultKey: 1, Credentials: []byte("sealed"),
	}
}

// enabled returns the ids of the enabled accounts of the merchant 7.
func (b *bundle) enabled(t *testing.T) (ids [2]int64) {
	t.Helper()
	found, err := b.db.EnabledAccounts(t.Context(), tenant.Merchant)
	if err != nil || len(found) > len(ids) {
		t.Fatalf("got %d accounts, %v", len(found), err)
	}
	for i, a := range found {
		ids[i] = a.ID
	}
	return ids
}

// switchAccount enables or disables an account.
func (b *bundle) switchAccount(t *testing.T, id int64, state payment.AccountState) (out *payment.Account, err error) {
	t.Helper()
	err = b.db.Update(t.Context(), func(tx *store.Tx) error {
		a, err := tx.LockedAccount(id)
		if err == nil {
			out, err = tx.SetAccountState(a, state)
		}
		return err
	})
	return out, err
}

// rotateAccount replaces the credentials of the account 1.
func (b *bundle) rotateAccount(t *testing.T, key uint32, credentials string) error {
	t.Helper()
	return b.db.Update(t.Context(), func(tx *store.Tx) error {
		a, err := tx.LockedAccount(1)
		if err == nil {
			_, err = tx.RotateAccount(a, key, []byte(credentials))
		}
		return err
	})
}

// TestAccounts: a merchant has at most one enabled account of each rank for a currency and method.
func TestAccounts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second := account(1, payment.FirstAccount), account(2, payment.SecondAccount)
	b.MustUpdate(t, func(tx *store.Tx) error { return errors.Join(tx.InsertAccount(second), tx.InsertAccount(first)) })
	if got, want := b.enabled(t), [2]int64{1, 2}; got != want {
		t.Errorf("got %v, want %v in the order of ranks", got, want)
	}
	next := int64(10)
	for name, c := range map[string]struct {
		change func(*payment.Account)
		want   error
	}{
		"the same":         {func(*payment.Account) {}, payment.ErrAccountExists},
		"the id":           {func(a *payment.Account) { a.ID, a.Currency = 1, "chf" }, store.ErrDuplicate},
		"another currency": {func(a *payment.Account) { a.Currency = "eur" }, nil},
		"another method":   {func(a *payment.Account) { a.Method = "bank_account" }, nil},
		"another merchant": {func(a *payment.Account) { a.Merchant = 8 }, nil},
	} {
		next++
		a := account(next, payment.FirstAccount)
		c.change(a)
		if err := b.db.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertAccount(a) }); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	b.clock.Advance(time.Minute)
	off, err := b.switchAccount(t, 1, payment.AccountDisabled)
	if err != nil || off.State != payment.AccountDisabled || off.Version != 2 || !off.UpdatedAt.After(off.CreatedAt) {
		t.Errorf("got %+v, %v", off, err)
	}
	if again, err := b.switchAccount(t, 1, payment.AccountDisabled); err != nil || again.Version != 2 {
		t.Errorf("again: got %+v, %v, want no change", again, err)
	}
	kept, err := b.db.Account(t.Context(), 1)
	if err != nil || kept.State != payment.AccountDisabled || string(kept.Credentials) != "sealed" {
		t.Errorf("got %+v, %v, want the disabled account", kept, err)
	}
	third := account(3, payment.FirstAccount)
	b.MustUpdate(t, func(tx *store.Tx) error { return tx.InsertAccount(third) })
	if _, err := b.switchAccount(t, 1, payment.AccountEnabled); !errors.Is(err, payment.ErrAccountExists) {
		t.Errorf("got %v, want %v", err, payment.ErrAccountExists)
	}
	if _, err := b.switchAccount(t, 99, payment.AccountEnabled); !errors.Is(err, payment.ErrNotFound) {
		t.Errorf("got %v, want %v", err, payment.ErrNotFound)
	}
	if _, err := b.db.Account(t.Context(), 99); !errors.Is(err, payment.ErrNotFound) {
		t.Errorf("got %v, want %v", err, payment.ErrNotFound)
	}
}

// TestAccountList pages over the accounts of one merchant, and of all.
func TestAccountList(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := account(4, payment.FirstAccount)
	other.Merchant = 8
	b.MustUpdate(t, func(tx *store.Tx) error {
		return errors.Join(tx.InsertAccount(account(1, payment.FirstAccount)),
			tx.InsertAccount(account(2, payment.SecondAccount)), tx.InsertAccount(other))
	})
	for name, c := range map[string]struct {
		merchant int64
		page     payment.Page
		want     []int64
		more     bool
	}{
		"all":    {0, payment.Page{Limit: 9}, []int64{4, 2, 1}, false},
		"first":  {0, payment.Page{Limit: 1}, []int64{4}, true},
		"after":  {0, payment.Page{Limit: 1, After: 4}, []int64{2}, true},
		"before": {0, payment.Page{Limit: 1, Before: 1}, []int64{2}, true},
		"of one": {tenant.Merchant, payment.Page{Limit: 9}, []int64{2, 1}, false},
	} {
		got, err := b.db.Accounts(t.Context(), c.merchant, c.page)
		if err != nil || len(got.Rows) != len(c.want) || got.More != c.more {
			t.Errorf("%s: got %d accounts, more %t, %v", name, len(got.Rows), got.More, err)
			continue
		}
		for i, a := range got.Rows {
			if a.ID != c.want[i] {
				t.Errorf("%s: got %d at %d, want %d", name, a.ID, i, c.want[i])
			}
		}
	}
	if all, err := b.db.AllAccounts(t.Context()); err != nil || len(all) != 3 || all[0].ID != 1 {
		t.Errorf("got %d accounts, %v", len(all), err)
	}
}

// TestAccountCredentials: credentials need the vault's keys, and are never written under a retired
// one.
func TestAccountCredentials(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if held, err := b.db.HoldsSealed(t.Context()); err != nil || held {
		t.Errorf("an empty store holds sealed rows: %t, %v", held, err)
	}
	b.MustUpdate(t, func(tx *store.Tx) error {
		return errors.Join(tx.InsertAccount(account(1, payment.FirstAccount)), tx.RetireKeys([]uint32{1}))
	})
	if held, err := b.db.HoldsSealed(t.Context()); err != nil || !held {
		t.Errorf("the store holds sealed rows: %t, %v", held, err)
	}
	insert := func(tx *store.Tx) error { return tx.InsertAccount(account(2, payment.SecondAccount)) }
	if err := errors.Join(b.db.Update(t.Context(), insert)); !errors.Is(err, store.ErrKeyRetired) {
		t.Errorf("insert: got %v, want %v", err, store.ErrKeyRetired)
	}
	if err := b.rotateAccount(t, 1, "new"); !errors.Is(err, store.ErrKeyRetired) {
		t.Errorf("rotate: got %v, want %v", err, store.ErrKeyRetired)
	}
}

// TestResealAccounts: a rotation of the vault encrypts the credentials again. It does not overwrite
// credentials that were replaced meanwhile.
func TestResealAccounts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustUpdate(t, func(tx *store.Tx) error { return tx.InsertAccount(account(1, payment.FirstAccount)) })
	left, err := b.db.SealedAccounts(t.Context(), 2, 0, 9)
	live := payment.Tenant{Merchant: tenant.Merchant, Live: true}
	if err != nil || len(left) != 1 || left[0].ID != 1 || left[0].Sealed.Key != 1 || left[0].Tenant != live {
		t.Fatalf("got %+v, %v", left, err)
	}
	count := func() (n int) {
		b.MustUpdate(t, func(tx *store.Tx) (err error) { n, err = tx.CountSealed(2); return err })
		return n
	}
	if got := count(); got != 1 {
		t.Errorf("left: got %d, want 1", got)
	}
	b.MustUpdate(t, func(tx *store.Tx) error {
		return errors.Join(tx.ResealAccount(1, 1, payment.Sealed{Key: 2, Number: []byte("resealed")}),
			tx.ResealAccount(1, 1, payment.Sealed{Key: 2, Number: []byte("late")}))
	})
	got, err := b.db.Account(t.Context(), 1)
	if err != nil || string(got.Credentials) != "resealed" || got.VaultKey != 2 || got.Version != 1 || count() != 0 {
		t.Errorf("got %+v, %v, want it under the key 2, in the same version", got, err)
	}
	b.clock.Advance(time.Hour)
	if err := b.rotateAccount(t, 2, "new"); err != nil {
		t.Fatal(err)
	}
	got, err = b.db.Account(t.Context(), 1)
	since := got.RotatedAt.Sub(got.CreatedAt)
	if err != nil || string(got.Credentials) != "new" || got.Version != 2 || since != time.Hour {
		t.Errorf("got %+v, %v", got, err)
	}
}
