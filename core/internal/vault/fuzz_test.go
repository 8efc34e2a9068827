package vault_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/secret"
)

// FuzzOpen changes a sealed number, or its place, in any way: it opens as the same number or not at
// all.
func FuzzOpen(f *testing.F) {
	v := MustLoad(f, filepath.Join(f.TempDir(), "vault.keyset"))
	s := MustSeal(f, v)
	f.Add(int64(7), false, token.ID, 0, byte(0))
	f.Add(int64(7), true, token.ID, 0, byte(0))
	f.Add(int64(7), false, token.ID+"|number", 0, byte(0))
	f.Add(int64(7), false, token.ID, 5, byte(1))
	f.Fuzz(func(t *testing.T, merchant int64, live bool, object string, at int, flip byte) {
		changed := payment.Sealed{Key: s.Key, Number: bytes.Clone(s.Number)}
		if at >= 0 && at < len(changed.Number) {
			changed.Number[at] ^= flip
		}
		o := vault.Object{Tenant: payment.Tenant{Merchant: merchant, Live: live}, ID: object}
		got, err := v.Open(o, changed)
		if same := o == token && bytes.Equal(changed.Number, s.Number); same != (err == nil) {
			t.Errorf("in its place and whole: %t, opened: %v", same, err)
		}
		if err == nil && got.Number.Reveal() != number || err != nil && !got.Number.IsZero() {
			t.Error("it opened as something else")
		}
	})
}

// TestNoTwoBindingsAreEqual: no name of an object makes its number open as another object's code.
func TestNoTwoBindingsAreEqual(t *testing.T) {
	t.Parallel()
	v := MustLoad(t, filepath.Join(t.TempDir(), "vault.keyset"))
	s, err := v.Seal(token, vault.Secrets{Number: secret.New(number)})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{token.ID + "|number", "", "|", token.ID + "|"} {
		if _, err := v.Open(vault.Object{Tenant: token.Tenant, ID: id}, s); err == nil {
			t.Errorf("%q opens it", id)
		}
	}
}
