package vault_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/secretfile"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	number = "4242424242424242"
	cvc    = "9071"
)

var (
	kek   = bytes.Repeat([]byte{7}, vault.KEKSize)
	token = vault.Object{Tenant: payment.Tenant{Merchant: 7}, ID: "tok_0000000000001"}
)

func MustLoad(tb testing.TB, path string) *vault.Vault {
	tb.Helper()
	v, err := vault.Load(tb.Context(), secretfile.Path(path), kek)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func MustSeal(tb testing.TB, v *vault.Vault) payment.Sealed {
	tb.Helper()
	s, err := v.Seal(token, vault.Secrets{Number: secret.New(number)})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// wantOpen wants what MustSeal sealed.
func wantOpen(t *testing.T, v *vault.Vault, s payment.Sealed) {
	t.Helper()
	got, err := v.Open(token, s)
	if err != nil || got.Number.Reveal() != number {
		t.Errorf("got the number: %t, %v", got.Number.Reveal() == number, err)
	}
}

func TestSealAndOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.keyset")
	v := MustLoad(t, path)
	s := MustSeal(t, v)
	wantOpen(t, v, s)
	wantOpen(t, MustLoad(t, path), s)
	if again := MustSeal(t, v); bytes.Equal(again.Number, s.Number) {
		t.Error("the same number seals to the same text")
	}
	if bytes.Contains(s.Number, []byte(number)) {
		t.Error("sealed in the clear")
	}
	if got, err := v.Open(token, payment.Sealed{Key: s.Key + 1}); !errors.Is(err, vault.ErrWiped) || !got.Number.IsZero() {
		t.Errorf("nothing sealed: got something, or %v", err)
	}
}

// TestMoved: a row that is copied to another tenant, mode, object or field does not open there.
func TestMoved(t *testing.T) {
	t.Parallel()
	v := MustLoad(t, filepath.Join(t.TempDir(), "vault.keyset"))
	s := MustSeal(t, v)
	for name, o := range map[string]vault.Object{
		"merchant": {Tenant: payment.Tenant{Merchant: 8}, ID: token.ID},
		"mode":     {Tenant: payment.Tenant{Merchant: 7, Live: true}, ID: token.ID},
		"object":   {Tenant: token.Tenant, ID: "tok_0000000000002"},
		"kind":     {Tenant: token.Tenant, ID: "pm_0000000000001"},
	} {
		if got, err := v.Open(o, s); !errors.Is(err, vault.ErrNotHere) || !got.Number.IsZero() {
			t.Errorf("another %s: got %v, want %v", name, err, vault.ErrNotHere)
		}
	}
	for i := range s.Number {
		changed := payment.Sealed{Key: s.Key, Number: slices.Clone(s.Number)}
		changed.Number[i] ^= 1
		if _, err := v.Open(token, changed); !errors.Is(err, vault.ErrNotHere) {
			t.Fatalf("byte %d changed: got %v, want %v", i, err, vault.ErrNotHere)
		}
	}
}

// TestRotate: a second process that has only the old keyset notices the new one.
func TestRotate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.keyset")
	admin, service := MustLoad(t, path), MustLoad(t, path)
	old := MustSeal(t, admin)
	if err := admin.AddPrimary(); err != nil {
		t.Fatal(err)
	}
	fresh := MustSeal(t, admin)
	if fresh.Key == old.Key || admin.Primary() != fresh.Key || !slices.Equal(admin.Older(), []uint32{old.Key}) {
		t.Errorf("keys: got %d older %v, want another than %d", admin.Primary(), admin.Older(), old.Key)
	}
	if got := MustSeal(t, service); got.Key != old.Key {
		t.Error("the service knows of the new key before it looked")
	}
	wantOpen(t, service, fresh)
	wantOpen(t, service, old)
	if got := MustSeal(t, service); got.Key != fresh.Key {
		t.Error("the service still seals by the old key after it has seen the new one")
	}
	if err := admin.DropOlder(); err != nil {
		t.Fatal(err)
	}
	wantOpen(t, admin, fresh)
	wantOpen(t, MustLoad(t, path), fresh)
	if _, err := admin.Open(token, old); !errors.Is(err, vault.ErrUnknownKey) {
		t.Errorf("sealed by a dropped key: got %v, want %v", err, vault.ErrUnknownKey)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "vault.keyset")
	MustLoad(t, path)
	if _, err := vault.Load(t.Context(), secretfile.Path(path), bytes.Repeat([]byte{8}, vault.KEKSize)); err == nil ||
		!strings.Contains(err.Error(), "key-encryption key") {
		t.Errorf("another key: got %v", err)
	}
	if _, err := vault.Load(t.Context(), secretfile.Path(path), kek[1:]); err == nil {
		t.Error("a short key was taken")
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty": {}, "half": whole[:len(whole)/2],
		"noise": bytes.Repeat([]byte{1}, 200),
	} {
		damaged := filepath.Join(dir, name)
		if err := os.WriteFile(damaged, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := vault.Load(t.Context(), secretfile.Path(damaged), kek); err == nil {
			t.Errorf("%s: loaded", name)
		}
		if got, err := os.ReadFile(damaged); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// TestFirstLoadIsMadeOnce: the first process makes the keyset, and all processes use it.
func TestFirstLoadIsMadeOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "vault.keyset")
	var wg sync.WaitGroup
	primaries := make([]uint32, 8)
	for i := range primaries {
		wg.Go(func() {
			if v, err := vault.Load(t.Context(), secretfile.Path(path), kek); err != nil {
				t.Error(err)
			} else {
				primaries[i] = v.Primary()
			}
		})
	}
	wg.Wait()
	slices.Sort(primaries)
	if got := slices.Compact(primaries); len(got) != 1 {
		t.Errorf("got %d keysets, want one", len(got))
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("files: got %d, %v, want the keyset alone", len(left), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode: got %v, %v", info.Mode(), err)
	}
}
