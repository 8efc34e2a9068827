package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// removals remove a listed row.
var removals = map[string]func(tx *store.Tx, s *coretest.Service, n int64) error{
	"transactions":              removePayment,
	"transactions by reference": removePayment,
	"webhook endpoints": func(tx *store.Tx, s *coretest.Service, n int64) error {
		e, err := tx.Endpoint(s.Tenant, n)
		if err != nil {
			return err
		}
		return tx.DeleteEndpoint(e)
	},
}

func removePayment(tx *store.Tx, _ *coretest.Service, n int64) error { return tx.RemoveTransaction(n) }

// TestCursorOfARemovedRow: a client pages from a row that was removed after the client has read it.
// The pages have the older and the newer rows, each once.
func TestCursorOfARemovedRow(t *testing.T) {
	t.Parallel()
	for name, remove := range removals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			lists()[name].aroundRemoved(t, s, s, s, remove)
		})
	}
}

// TestCursorOfARemovedRowPostgreSQL: a core whose clock is ahead committed the row before the
// removed one. A core whose clock is behind committed the row after it.
func TestCursorOfARemovedRowPostgreSQL(t *testing.T) {
	t.Parallel()
	for name, remove := range removals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenOnce(t)
			s.Clock.Advance(time.Minute)
			lists()[name].aroundRemoved(t, s, s.BesideAhead(t, behind), s.BesideAhead(t, -behind), remove)
		})
	}
}

// aroundRemoved removes the third of four rows. The first core commits the first and the third, and
// the cores ahead and slow commit the others.
func (l listed) aroundRemoved(
	t *testing.T, s, ahead, slow *coretest.Service, remove func(*store.Tx, *coretest.Service, int64) error,
) {
	t.Helper()
	first := l.mustInsert(t, s, 0, nil)
	for _, other := range []*coretest.Service{s, ahead, slow} {
		other.Clock.Advance(10 * time.Second)
	}
	older := l.mustInsert(t, ahead, 0, nil)
	removed := l.mustInsert(t, s, 0, nil)
	newer := l.mustInsert(t, slow, 0, nil)
	if err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return remove(tx, s, removed) }); err != nil {
		t.Fatal(err)
	}
	s.Database.WaitForCommands(t, s.Inspect)
	up, err := l.list(t.Context(), s, 0, payment.Page{Limit: 4, Before: removed})
	if err != nil || !slices.Equal(up, []int64{newer}) {
		t.Errorf("newer than the removed row %d: got %v, %v, want %d", removed, up, err, newer)
	}
	down, err := l.list(t.Context(), s, 0, payment.Page{Limit: 4, After: removed})
	if err != nil || !slices.Equal(down, []int64{older, first}) {
		t.Errorf("older than the removed row %d: got %v, %v, want %d, %d", removed, down, err, older, first)
	}
}
