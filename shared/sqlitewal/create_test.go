package sqlitewal_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/shared/sqlitewal"
)

// TestCreate tests that only the owner can read a new file, and that an existing one stays.
func TestCreate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "database")
	for _, content := range []string{"", "kept"} {
		if err := sqlitewal.Create(path); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := info.Mode().Perm(), os.FileMode(0o600); got != want {
			t.Errorf("mode: got %v, want %v", got, want)
		}
		if got, want := info.Size(), int64(len(content)); got != want {
			t.Errorf("size: got %d, want %d", got, want)
		}
		if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := sqlitewal.Create(filepath.Join(path, "below")); err == nil {
		t.Error("a file below a file was created")
	}
}
