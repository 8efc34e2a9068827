package sqlite_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestDiskFull: a command for which the disk has no room fails. The results of the other commands
// match the rows. The store works again once there is room.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.engine.Exec("PRAGMA max_page_count = 100", "PRAGMA cache_size = 10"); err != nil {
		t.Fatal(err)
	}
	release := b.block(t)
	first := b.queue(merchant(1))
	large := b.queue(func(tx *store.Tx) error { return tx.InsertMerchant(2, strings.Repeat("n", 1<<20)) })
	last := b.queue(merchant(3))
	release()
	results := map[int64]error{1: <-first, 2: <-large, 3: <-last}
	for _, id := range []int64{1, 2} { // SQLite rolled back the transaction of both
		if err := results[id]; !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("merchant %d: got %v, want it to be unavailable", id, err)
		}
	}
	if err := results[3]; err != nil { // it is in the next transaction
		t.Errorf("merchant 3: %v", err)
	}
	for id, err := range results {
		var n int
		count := b.MustWrite(t).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM merchants WHERE id = ?", id)
		if scan := count.Scan(&n); scan != nil {
			t.Fatal(scan)
		}
		if (err == nil) != (n == 1) {
			t.Errorf("merchant %d: got the result %v and %d rows", id, err, n)
		}
	}
	if err := b.engine.Exec("PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	if err := b.db.Update(t.Context(), merchant(4)); err != nil {
		t.Errorf("once there is room: %v", err)
	}
}
