package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

// TestOutageEndsAPass: a store that fails as a whole ends the pass immediately, and no row is
// skipped.
func TestOutageEndsAPass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.db.ObserveSkips(func(_ context.Context, s pass.Skip) { t.Errorf("got %+v, want no skip", s) })
	commits := 0
	rows := pass.Rows[int64]{
		Kind: "transaction", ID: func(n int64) int64 { return n },
		Change: func(context.Context, []int64) (int, error) { commits++; return 0, store.ErrUnavailable },
	}
	err := rows.Do(t.Context(), b.db.BeginPass(pass.Expiry), []int64{1, 2, 3})
	if !errors.Is(err, store.ErrUnavailable) || commits != 1 {
		t.Errorf("got %v after %d commits, want the error after one", err, commits)
	}
}

// TestPassEndsWithoutATurn: a refused turn is no failure of a row, so the pass ends and reports no
// skipped row.
func TestPassEndsWithoutATurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, err := range []error{store.ErrBusy, payment.ErrTooManyChanges} {
		if got := b.db.BeginPass(pass.Expiry).Skip(t.Context(), "transaction", 1, err); !errors.Is(got, err) {
			t.Errorf("%v: got %v, want the pass to end", err, got)
		}
	}
}
