package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestWaitingFromBeforeTheyLapsed migrates a file with payments that wait, and one whose confirmation runs, from the schema before.
func TestWaitingFromBeforeTheyLapsed(t *testing.T) {
	t.Parallel()
	b := &bundle{path: filepath.Join(t.TempDir(), "causeway.db"), clock: clock.NewFake(birth)}
	db := b.MustWrite(t)
	p, err := goose.NewProvider(goose.DialectSQLite3, db, os.DirFS("migration/sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`INSERT INTO merchants (id, name, created_at) VALUES (?1, 'shop', 0)`,
		`INSERT INTO test_clocks (merchant_id, offset_ms) VALUES (?1, 1000)`,
		`INSERT INTO transactions (id, merchant_id, live, status, auto_capture, amount, currency, payment_method, details, created_at, updated_at, attempt) VALUES
			(10, ?1, 0, 'requires_confirmation', 1, 100, 'usd', '', '{}', 5, 9, 1), (20, ?1, 1, 'requires_confirmation', 1, 100, 'usd', '', '{}', 7, 9, 1),
			(30, ?1, 0, 'processing', 1, 100, 'usd', 'card', '{}', 5, 9, 2), (40, ?1, 0, 'processing', 1, 100, 'usd', 'card', '{}', 5, 9, 0)`,
	} {
		if _, err := db.ExecContext(t.Context(), statement, tenant.Merchant); err != nil {
			t.Fatal(err)
		}
	}
	b.db = b.MustOpen(t)
	const day = 86_400_000
	for by, want := range map[int64]int{day + 6: 0, day + 7: 1, day + 1004: 1, day + 1005: 2} {
		if got, err := b.db.Unconfirmed(t.Context(), time.UnixMilli(by), 10); err != nil || len(got) != want {
			t.Errorf("by %d: got %+v, %v, want %d", by, got, err, want)
		}
	}
	withdrawn := &payment.Transaction{ID: 30, Tenant: tenant, Attempt: 2}
	if err := b.db.Update(t.Context(), func(tx *store.Tx) error { return tx.WithdrawConfirmation(withdrawn) }); err == nil {
		t.Error("what was never told of was withdrawn without what it was before") // its details were not kept
	}
}

// TestReversals: one row an attempt, which a change that somebody else was faster with does not meet.
func TestReversals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	birth := birth.Truncate(time.Millisecond)
	txn := &payment.Transaction{ID: 10, Tenant: tenant, Attempt: 1, Amount: 100, Currency: "usd", AutoCapture: true}
	second := *txn
	second.Attempt = 2
	write := func(fn func(tx *store.Tx) error) error { return b.db.Update(t.Context(), fn) }
	owed := txn.Unwanted(birth)
	owed.DueAt = birth.Add(time.Hour)
	err := write(func(tx *store.Tx) error {
		return errors.Join(tx.InsertReversal(owed), tx.InsertReversal(second.Unwanted(birth)))
	})
	if err != nil {
		t.Fatal(err)
	}
	due := func(at time.Time) []*payment.Reversal {
		t.Helper()
		got, err := b.db.DueReversals(t.Context(), at, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := due(birth); len(got) != 1 || got[0].Attempt != 2 || !got[0].Captured || got[0].Amount != 100 || got[0].Tenant != tenant {
		t.Errorf("due: got %+v", got)
	}
	all := due(birth.Add(time.Hour))
	if len(all) != 2 || len(due(birth.Add(-time.Millisecond))) != 0 {
		t.Fatalf("got %d, want 2", len(all))
	}
	late := txn.Unwanted(birth.Add(time.Minute))
	late.Held = 70
	if err := write(func(tx *store.Tx) error { return tx.InsertReversal(late) }); err != nil {
		t.Fatal(err)
	}
	old := all[0]
	if err := write(func(tx *store.Tx) error { return tx.PostponeReversal(old) }); !errors.Is(err, store.ErrConflict) {
		t.Errorf("postponed by one who did not know: got %v, want %v", err, store.ErrConflict)
	}
	if err := write(func(tx *store.Tx) error { return tx.EndReversal(old) }); !errors.Is(err, store.ErrConflict) {
		t.Errorf("ended by one who did not know: got %v, want %v", err, store.ErrConflict)
	}
	now := due(birth.Add(time.Minute))
	if len(now) != 2 || now[0].Held != 70 || !now[0].Since.Equal(birth.Add(time.Minute)) || !now[0].DueAt.Equal(birth.Add(time.Minute)) {
		t.Fatalf("learned: got %+v", now[0])
	}
	now[0].Refuse(birth)
	if err := write(func(tx *store.Tx) error { return errors.Join(tx.PostponeReversal(now[0]), tx.EndReversal(now[1])) }); err != nil {
		t.Fatal(err)
	}
	if got := due(birth.Add(time.Minute)); len(got) != 1 || got[0].Refused != 1 || got[0].Asked != 1 || got[0].Held != 70 || !got[0].DueAt.Equal(birth.Add(time.Minute)) {
		t.Errorf("got %+v", got)
	}
}
