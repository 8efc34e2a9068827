package store_test

import (
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestExplainLeavesOthersAlone: what has another cause than a full disk stays as it is.
func TestExplainLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	broken := b.db.Update(t.Context(), func(tx *store.Tx) error { return tx.Exec("INSERT INTO nothing VALUES (1)") })
	for _, err := range []error{nil, errors.New("of something else"), broken} {
		if got := store.Explain(err, b.path); got != err { //nolint:errorlint // the very same
			t.Errorf("got %v, want %v", got, err)
		}
	}
	full := b.db.Update(t.Context(), func(tx *store.Tx) error {
		return errors.Join(tx.Exec("PRAGMA max_page_count = 1"), tx.Exec("CREATE TABLE more (filler BLOB)"), tx.Exec("INSERT INTO more VALUES (zeroblob(1000000))"))
	})
	if got := store.Explain(full, b.path); full == nil || errors.Is(got, store.ErrDiskFull) {
		t.Errorf("with room on the disk: got %v of %v", got, full)
	}
}
