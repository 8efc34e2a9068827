package keystore_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// TestOwner: the files of a store that root creates belong to the owner of their folder: the user
// of the service.
func TestOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	folder := t.TempDir()
	if err := os.Chown(folder, 10701, 10700); err != nil {
		t.Fatal(err)
	}
	db, err := keystore.Open(t.Context(), keystore.Config{Source: filepath.Join(folder, "mle.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test's store
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("got %v, %v, want the database and its write-ahead log", paths, err)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		owner, ok := info.Sys().(*syscall.Stat_t)
		if !ok || owner.Uid != 10701 || owner.Gid != 10700 {
			t.Errorf("owner of %s: got %+v, want 10701:10700", path, owner)
		}
	}
}
