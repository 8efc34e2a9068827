package store_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// sealed returns an encrypted number and an encrypted security code. The number repeats a letter in
// lower case, the code repeats it in upper case.
func sealed(key uint32, letter byte) payment.Sealed {
	code := payment.SealedCode{Key: codeKey, Text: bytes.Repeat([]byte{letter - 'a' + 'A'}, 32)}
	return payment.Sealed{Key: key, Number: bytes.Repeat([]byte{letter}, 45), Code: code}
}

// codeKey is the key that encrypts each security code of these tests.
var codeKey = payment.CodeKey{ID: 77, Hour: 495_000, Vault: 1, Sealed: []byte("WWWWWWWWWWWW")}

// MustHaveCodeKey inserts codeKey.
func (b *bundle) MustHaveCodeKey(t *testing.T) {
	t.Helper()
	b.MustStore(t, func(tx *store.Tx) error { return tx.InsertCodeKey(codeKey) })
}

// MustStore runs a command that writes tokens or payment methods.
func (b *bundle) MustStore(t *testing.T, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := b.db.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func token(id int64, s payment.Sealed) *payment.Token {
	return &payment.Token{
		ID: id, Tenant: tenant, Kind: payment.KindCard, Details: []byte("{}"), Sealed: s, SecretHash: []byte("hash"),
	}
}

func method(id int64, s payment.Sealed) *payment.Method {
	s.Code = payment.SealedCode{}
	return &payment.Method{ID: id, Tenant: tenant, Customer: 20, Kind: payment.KindCard, Details: []byte("{}"), Sealed: s}
}

// TestWipedBytes: wiped bytes are not in the files any more, not even in the free space of their
// pages.
func TestWipedBytes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustHaveCodeKey(t)
	b.MustStore(t, func(tx *store.Tx) error {
		return errors.Join(tx.InsertCustomer(&payment.Customer{ID: 20, Tenant: tenant, Details: []byte("{}")}),
			tx.InsertToken(token(1, sealed(1, 'k'))), tx.InsertToken(token(2, sealed(1, 'u'))),
			tx.InsertToken(token(3, sealed(1, 'x'))), tx.InsertMethod(method(4, sealed(1, 'm'))),
			tx.InsertMethod(method(5, sealed(1, 'd'))))
	})
	b.MustStore(t, func(tx *store.Tx) error { return tx.UseToken(tenant, 2, 10) })
	b.MustStore(t, func(tx *store.Tx) error { return tx.DetachMethod(method(5, sealed(1, 'd'))) })
	b.wantBytes(t, map[string]bool{
		"kkkkkkkk": true, "KKKKKKKK": true, "uuuuuuuu": true, "UUUUUUUU": false, "xxxxxxxx": true,
		"mmmmmmmm": true, "dddddddd": false,
	})
	b.clock.Advance(payment.TokenLifetime)
	if n, err := b.db.WipeTokens(t.Context()); err != nil || n != 3 {
		t.Errorf("wiped %d, %v, want 3", n, err)
	}
	b.wantBytes(t, map[string]bool{
		"kkkkkkkk": false, "KKKKKKKK": false, "uuuuuuuu": false, "UUUUUUUU": false, "xxxxxxxx": false,
		"XXXXXXXX": false, "mmmmmmmm": true,
	})
}

// wantBytes closes the store, so that its files contain all rows, searches the files for the texts,
// and opens the store again.
func (b *bundle) wantBytes(t *testing.T, want map[string]bool) {
	t.Helper()
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	codes, err := os.ReadFile(filepath.Join(filepath.Dir(b.path), "codes.db"))
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.Index(file, []byte("KKKKKKKK")); i >= 0 {
		t.Error("a security code is in the database file")
	}
	file = append(file, codes...)
	for text, want := range want {
		if got := bytes.Contains(file, []byte(text)); got != want {
			t.Errorf("%s is in the file: %t, want %t", text, got, want)
		}
	}
	b.db = b.MustOpen(t)
}

// TestRetiredKeys: no row can be written under a retired key. Rows under it can be encrypted again.
func TestRetiredKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustHaveCodeKey(t)
	b.MustStore(t, func(tx *store.Tx) error {
		return errors.Join(tx.InsertCustomer(&payment.Customer{ID: 20, Tenant: tenant, Details: []byte("{}")}),
			tx.InsertToken(token(1, sealed(7, 'a'))), tx.InsertToken(token(2, sealed(7, 'b'))),
			tx.InsertMethod(method(3, sealed(7, 'c'))), tx.UseToken(tenant, 2, 9),
			tx.RetireKeys([]uint32{7, 7, 1<<32 - 1}))
	})
	for name, fn := range map[string]func(*store.Tx) error{
		"token":    func(tx *store.Tx) error { return tx.InsertToken(token(4, sealed(7, 'd'))) },
		"method":   func(tx *store.Tx) error { return tx.InsertMethod(method(5, sealed(1<<32-1, 'd'))) },
		"code key": func(tx *store.Tx) error { return tx.InsertCodeKey(payment.CodeKey{ID: 78, Hour: 1, Vault: 7}) },
	} {
		if err := b.db.Update(t.Context(), fn); !errors.Is(err, store.ErrKeyRetired) {
			t.Errorf("%s: got %v, want %v", name, err, store.ErrKeyRetired)
		}
	}
	left := func() (n int) {
		b.MustStore(t, func(tx *store.Tx) (err error) { n, err = tx.CountSealed(8); return err })
		return n
	}
	if got := left(); got != 4 {
		t.Errorf("left: got %d, want 4", got)
	}
	b.MustStore(t, func(tx *store.Tx) error {
		return errors.Join(tx.ResealToken(1, 7, sealed(8, 'e')), tx.ResealToken(2, 7, sealed(8, 'f')),
			tx.ResealMethod(3, 7, sealed(8, 'g')), tx.ResealMethod(3, 7, sealed(8, 'h')),
			tx.ResealMethod(99, 7, sealed(8, 'h')),
			tx.ResealCodeKey(1, payment.CodeKey{ID: 77, Vault: 8, Sealed: []byte("8")}),
			tx.ResealCodeKey(1, payment.CodeKey{ID: 77, Vault: 9}))
	})
	if got := left(); got != 0 {
		t.Errorf("left: got %d, want none", got)
	}
	used, err := b.db.Token(t.Context(), tenant, 2)
	if err != nil || used.Sealed.Code.Text != nil || used.Sealed.Key != 8 || used.UsedBy != 9 {
		t.Errorf("the used token: got %+v, %v, want it used, under key 8 and without a code", used, err)
	}
	if m, err := b.db.Method(t.Context(), tenant, 3); err != nil || m.Sealed.Number[0] != 'g' {
		t.Errorf("the payment method: got %+v, %v, want the number of the first ResealMethod", m, err)
	}
}

// TestReturnToken: ReturnToken makes a token usable only for the object that used it, with its
// security code if it had one, and before it expires.
func TestReturnToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	without := sealed(1, 'b')
	without.Code = payment.SealedCode{}
	b.MustStore(t, func(tx *store.Tx) error {
		return errors.Join(tx.InsertCodeKey(codeKey), tx.InsertToken(token(1, sealed(1, 'a'))),
			tx.InsertToken(token(2, without)), tx.UseToken(tenant, 1, 9), tx.UseToken(tenant, 2, 9))
	})
	back := func(id, by int64, s payment.Sealed) bool {
		t.Helper()
		b.MustStore(t, func(tx *store.Tx) error { return tx.ReturnToken(id, by, s) })
		got, err := b.db.Token(t.Context(), tenant, id)
		if err != nil {
			t.Fatal(err)
		}
		if got.UsedBy == 0 && got.CVCGiven && len(got.Sealed.Code.Text) == 0 {
			t.Error("a token is usable without its security code")
		}
		return got.UsedBy == 0
	}
	if back(1, 8, sealed(1, 'a')) || back(1, 9, payment.Sealed{}) || back(2, 8, payment.Sealed{}) {
		t.Error("a token is usable for another object, or without its security code")
	}
	b.clock.Advance(payment.TokenLifetime - time.Millisecond)
	if !back(1, 9, sealed(1, 'a')) || !back(2, 9, payment.Sealed{}) {
		t.Error("a returned token is not usable")
	}
	b.MustStore(t, func(tx *store.Tx) error { return tx.UseToken(tenant, 1, 9) })
	b.clock.Advance(time.Millisecond)
	if back(1, 9, sealed(1, 'a')) {
		t.Error("an expired token is usable")
	}
	for _, id := range []int64{1, 2, 3} {
		err := b.db.Update(t.Context(), func(tx *store.Tx) error { return tx.UseToken(tenant, id, 9) })
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("token %d, expired or missing: got %v, want %v", id, err, store.ErrConflict)
		}
	}
}

// TestVaultChecks: the database refuses updates that break an invariant of tokens or payment
// methods.
func TestVaultChecks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustStore(t, func(tx *store.Tx) error {
		return errors.Join(tx.InsertCustomer(&payment.Customer{ID: 20, Tenant: tenant, Details: []byte("{}")}),
			tx.InsertCodeKey(codeKey), tx.InsertToken(token(1, sealed(1, 'a'))), tx.InsertMethod(method(2, sealed(1, 'b'))))
	})
	db := b.MustWrite(t)
	for _, statement := range []string{
		"UPDATE tokens SET used_by = 1", "UPDATE tokens SET secret_hash = NULL",
		"UPDATE tokens SET used_at = 1", "UPDATE tokens SET kind = 'cash'",
		"UPDATE payment_methods SET number = NULL", "UPDATE payment_methods SET detached_at = 1",
		"UPDATE payment_methods SET customer_id = 1",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("%s succeeded, want an error", statement)
		}
	}
}
