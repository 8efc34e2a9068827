package sqlite_test

import (
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestIDsRiseAcrossRestarts: the clock is set back between two runs. New rows still have higher ids
// than the existing rows, so a client that polls reads them. A higher id from a clock that was days
// ahead has no effect: an id is the approximate time of its row.
func TestIDsRiseAcrossRestarts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var want []int64
	insert := func() (n int64) {
		t.Helper()
		err := b.db.Update(t.Context(), func(tx *store.Tx) error {
			n = b.db.IDs().Next()
			return tx.InsertMerchant(n, "shop")
		})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, n)
		return n
	}
	again := func(d time.Duration) {
		t.Helper()
		if err := b.db.Close(); err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(d)
		b.db = b.MustOpen(t)
	}
	first := insert()
	again(-23 * time.Hour)
	insert()
	got, err := b.db.MerchantPage(t.Context(), payment.Page{Limit: 9, Before: first})
	if err != nil || len(got.Rows) != 1 || got.Rows[0].ID != want[1] {
		t.Errorf("after the first: got %+v, %v", got, err)
	}
	if !slices.IsSorted(want) {
		t.Errorf("got %v", want)
	}
	again(-25 * time.Hour)
	if n := insert(); n > first {
		t.Errorf("after a clock that was two days ahead: got %d, behind %d", n, first)
	}
}

// TestIDsOfQueuedCommands: a command generates its ids when it runs, not when it is queued. So the
// order of ids is the order of commits.
func TestIDsOfQueuedCommands(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	var event payment.Event
	done := b.queue(func(tx *store.Tx) error {
		n, err := tx.InsertDelivery(1, 1)
		event.ID = n
		return err
	})
	drawn := b.db.IDs().Next()
	release()
	if err := <-done; err != nil || event.ID < drawn {
		t.Errorf("the queued command has the id %d, want more than %d: %v", event.ID, drawn, err)
	}
}
