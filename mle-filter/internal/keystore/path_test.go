package keystore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// TestPathsThatAreNoURI checks that any path names exactly that file.
func TestPathsThatAreNoURI(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a?b", "a#b", "a%41", "a?mode=memory&b", "a b'ü"} {
		folder := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, "x.db")
		for _, existing := range []bool{false, true} {
			db, err := keystore.Open(t.Context(), keystore.Config{Source: path, Existing: existing})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: want a file with a database: %v", name, err)
		}
	}
}
