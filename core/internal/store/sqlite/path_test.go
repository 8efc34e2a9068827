package sqlite_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/sqlite"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestPathsThatAreNoURI: a database and its backup are at their paths, also if the paths have
// characters that mean something in a URI.
func TestPathsThatAreNoURI(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a?b", "a#b", "a%41", "a?mode=memory&b", "a b'ü"} {
		folder := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, "x.db")
		db, err := sqlite.Open(t.Context(), path, clock.System())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err = db.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(1, "shop") })
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := sqlite.Backup(t.Context(), path, filepath.Join(folder, "y.db")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		for _, file := range []string{path, filepath.Join(folder, "y.db")} {
			if info, err := os.Stat(file); err != nil || info.Size() == 0 {
				t.Errorf("%s: want a file with a database: %v", file, err)
			}
		}
		entries, err := os.ReadDir(filepath.Dir(folder))
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != name }) {
			t.Errorf("%s: got files next to the folder: %v", name, entries)
		}
	}
}
