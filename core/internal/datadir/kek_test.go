package datadir_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/shared/secret"
)

func TestMain(m *testing.M) { coretest.Main(m) }

// TestVaultKEK: a vault with a given key-encryption key opens only by that key.
func TestVaultKEK(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func(kek string) error {
		c, err := core.Open(t.Context(), core.Config{Data: dir, VaultKEK: secret.New(kek)})
		if err != nil {
			return err
		}
		return c.Close()
	}
	key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32))
	other := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{2}, 32))
	if err := open(key); err != nil {
		t.Fatal(err)
	}
	for name, kek := range map[string]string{
		"another": other, "none": "", "short": key[:40], "no base64": "!" + key[1:],
		"one byte more": base64.StdEncoding.EncodeToString(make([]byte, 33)),
	} {
		if err := open(kek); err == nil || kek != "" && strings.Contains(err.Error(), kek[1:20]) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := open("changeme"); err == nil || !strings.Contains(err.Error(), "restore the key") {
		t.Errorf("a placeholder on a store with keys: got %v, want no advice to make another key", err)
	}
	if err := open(key); err != nil {
		t.Error(err)
	}
}

func TestVaultKEKFromTheEnvironment(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kek")
	if err := os.WriteFile(file, []byte("from the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ kek, file, want string }{{"", "", ""}, {"text", "", "text"}, {"", file, "from the file"}} {
		got, err := datadir.KEK(func(name string) string {
			return map[string]string{"CAUSEWAY_VAULT_KEK": c.kek, "CAUSEWAY_VAULT_KEK_FILE": c.file}[name]
		})
		if err != nil || got.Reveal() != c.want {
			t.Errorf("%+v: got %q, %v", c, got.Reveal(), err)
		}
	}
	for _, c := range []struct{ kek, file string }{{"text", file}, {"", file + "x"}} {
		if _, err := datadir.KEK(func(name string) string {
			return map[string]string{"CAUSEWAY_VAULT_KEK": c.kek, "CAUSEWAY_VAULT_KEK_FILE": c.file}[name]
		}); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
