package sqlite_test

import (
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store/sqlite"
)

// TestExplainOtherErrors: Explain does not change an error with another cause than a full disk.
func TestExplainOtherErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	broken := b.engine.Exec("INSERT INTO nothing VALUES (1)")
	for _, err := range []error{nil, errors.New("of another kind"), broken} {
		if got := sqlite.Explain(err, b.path); got != err { //nolint:errorlint // the very same
			t.Errorf("got %v, want %v", got, err)
		}
	}
	full := b.engine.Exec("PRAGMA max_page_count = 1", "CREATE TABLE more (filler BLOB)",
		"INSERT INTO more VALUES (zeroblob(1000000))")
	if got := sqlite.Explain(full, b.path); full == nil || errors.Is(got, sqlite.ErrDiskFull) {
		t.Errorf("with room on the disk: got %v of %v", got, full)
	}
}
