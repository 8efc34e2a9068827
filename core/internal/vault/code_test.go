package vault_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestCode: a security code opens only with both the key of its hour and the value of its token.
func TestCode(t *testing.T) {
	t.Parallel()
	v := MustLoad(t, filepath.Join(t.TempDir(), "vault.keyset"))
	key, err := v.NewCodeKey(1, 500_000)
	if err != nil {
		t.Fatal(err)
	}
	value := payment.NewTokenValue(1)
	sealed, err := v.SealCode(token, key, value, secret.New(cvc))
	if err != nil || bytes.Contains(sealed.Text, []byte(cvc)) {
		t.Fatalf("got %q, %v", sealed.Text, err)
	}
	if got, err := v.OpenCode(token, sealed, value); err != nil || got.Reveal() != cvc {
		t.Errorf("got the code: %t, %v", got.Reveal() == cvc, err)
	}
	other, err := v.NewCodeKey(1, 500_000)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*payment.SealedCode)) payment.SealedCode {
		out := sealed
		change(&out)
		return out
	}
	for name, c := range map[string]struct {
		object vault.Object
		code   payment.SealedCode
		value  secret.String
		want   error
	}{
		"another token's value": {token, sealed, payment.NewTokenValue(1), vault.ErrNotHere},
		"no value":              {token, sealed, secret.String{}, vault.ErrNotHere},
		"the token's id":        {token, sealed, secret.New(token.ID), vault.ErrNotHere},
		"another object": {
			vault.Object{Tenant: token.Tenant, ID: "tok_0000000000002"},
			sealed, value,
			vault.ErrNotHere,
		},
		"another key":  {token, with(func(c *payment.SealedCode) { c.Key = other }), value, vault.ErrNotHere},
		"another hour": {token, with(func(c *payment.SealedCode) { c.Key.Hour++ }), value, vault.ErrNotHere},
		"a destroyed key": {
			token, with(func(c *payment.SealedCode) { c.Key = payment.CodeKey{} }), value,
			vault.ErrCodeGone,
		},
		"a deleted code":      {token, with(func(c *payment.SealedCode) { c.Text = nil }), value, vault.ErrCodeGone},
		"another vault's key": {token, with(func(c *payment.SealedCode) { c.Key.Vault++ }), value, vault.ErrUnknownKey},
	} {
		if got, err := v.OpenCode(c.object, c.code, c.value); !errors.Is(err, c.want) || !got.IsZero() {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// TestResealCodeKey: after a rotation of the vault, with the old keys dropped, the codes still
// open.
func TestResealCodeKey(t *testing.T) {
	t.Parallel()
	v := MustLoad(t, filepath.Join(t.TempDir(), "vault.keyset"))
	key, err := v.NewCodeKey(1, 500_000)
	if err != nil {
		t.Fatal(err)
	}
	value := payment.NewTokenValue(1)
	sealed, err := v.SealCode(token, key, value, secret.New(cvc))
	if err != nil {
		t.Fatal(err)
	}
	if err := v.AddPrimary(); err != nil {
		t.Fatal(err)
	}
	again, err := v.ResealCodeKey(key)
	if err != nil || again.Vault != v.Primary() || again.Vault == key.Vault {
		t.Fatalf("sealed by %d, %v, want %d", again.Vault, err, v.Primary())
	}
	if err := v.DropOlder(); err != nil {
		t.Fatal(err)
	}
	if _, err := v.OpenCode(token, sealed, value); !errors.Is(err, vault.ErrUnknownKey) {
		t.Errorf("by the dropped key: got %v, want %v", err, vault.ErrUnknownKey)
	}
	sealed.Key = again
	if got, err := v.OpenCode(token, sealed, value); err != nil || got.Reveal() != cvc {
		t.Errorf("got the code: %t, %v", got.Reveal() == cvc, err)
	}
}
