package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestReversals: each attempt has one pending reversal. A command with an old version of a reversal
// cannot change it.
func TestReversals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	birth := birth.Truncate(time.Millisecond)
	reversal := func(attempt int64, at time.Time) *payment.Reversal {
		return &payment.Reversal{
			Step: payment.StepID{Kind: payment.AuthorizeStep, Transaction: 10, Attempt: attempt}, Tenant: tenant,
			Amount: 100, Currency: "usd", Captured: true, Since: at, DueAt: at,
		}
	}
	write := func(fn func(tx *store.Tx) error) error { return b.db.Update(t.Context(), fn) }
	pending := reversal(1, birth)
	pending.DueAt = birth.Add(time.Hour)
	err := write(func(tx *store.Tx) error {
		return errors.Join(tx.InsertReversal(pending), tx.InsertReversal(reversal(2, birth)))
	})
	if err != nil {
		t.Fatal(err)
	}
	due := func(at time.Time) (out []*payment.Reversal) {
		t.Helper()
		got, err := b.db.PendingReversals(t.Context(), at, store.StepPage{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range got {
			if !o.Waits {
				out = append(out, o.Row)
			}
		}
		return out
	}
	if got := due(birth); len(got) != 1 || got[0].Step.Attempt != 2 || !got[0].Captured || got[0].Amount != 100 ||
		got[0].Tenant != tenant {
		t.Errorf("due: got %+v", got)
	}
	all := due(birth.Add(time.Hour))
	if len(all) != 2 || len(due(birth.Add(-time.Millisecond))) != 0 {
		t.Fatalf("got %d, want 2", len(all))
	}
	late := reversal(1, birth.Add(time.Minute))
	late.Held = 70
	if err := write(func(tx *store.Tx) error { return tx.InsertReversal(late) }); err != nil {
		t.Fatal(err)
	}
	old := all[0]
	if err := write(func(tx *store.Tx) error { return tx.PostponeReversal(old) }); !errors.Is(err, store.ErrConflict) {
		t.Errorf("postpone an old version: got %v, want %v", err, store.ErrConflict)
	}
	if err := write(func(tx *store.Tx) error { return tx.EndReversal(old) }); !errors.Is(err, store.ErrConflict) {
		t.Errorf("end an old version: got %v, want %v", err, store.ErrConflict)
	}
	later := birth.Add(time.Minute)
	now := due(later)
	if len(now) != 2 || now[0].Held != 70 || !now[0].Since.Equal(later) || !now[0].DueAt.Equal(later) {
		t.Fatalf("inserted again: got %+v", now)
	}
	now[0].Refuse(birth)
	b.MustUpdate(t, func(tx *store.Tx) error {
		return errors.Join(tx.PostponeReversal(now[0]), tx.EndReversal(now[1]))
	})
	if got := due(later); len(got) != 1 || got[0].Refused != 1 || got[0].Asked != 1 || got[0].Held != 70 ||
		!got[0].DueAt.Equal(later) {
		t.Errorf("got %+v", got)
	}
}
