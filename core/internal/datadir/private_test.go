package datadir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/core"
)

func TestDataFolderIsPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	c, err := core.Open(t.Context(), core.Config{Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := info.Mode().Perm(), os.FileMode(0o700); got != want {
		t.Errorf("folder: got %o, want %o", got, want)
	}
	secret, err := os.Stat(filepath.Join(dir, "root.secret"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := secret.Mode().Perm(), os.FileMode(0o600); got != want {
		t.Errorf("root secret: got %o, want %o", got, want)
	}
}
