package store_test

import (
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestRefundsOfNoTransactionInAFileThatHadRows: refunds of transactions stay as they were, and still need one that exists.
func TestRefundsOfNoTransactionInAFileThatHadRows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.path = filepath.Join(t.TempDir(), "old.db")
	if err := store.MigrateTo(t.Context(), b.path, 12); err != nil {
		t.Fatal(err)
	}
	old := b.MustWrite(t)
	mustExecAll(t, old, append([]string{`INSERT INTO merchants (id, name, created_at) VALUES (1, 'shop', 1)`}, checkedRows...))
	const unlinked = `INSERT INTO refunds (id, merchant_id, live, state, amount, currency, created_at, updated_at) VALUES (20, 1, 0, 'pending', 1, 'usd', 1, 1)`
	if _, err := old.ExecContext(t.Context(), unlinked); err == nil {
		t.Fatal("the old schema takes a refund of no transaction")
	}
	b.db = b.MustOpen(t)
	mustExecAll(t, old, []string{unlinked}) // on a connection from before
	if _, err := old.ExecContext(t.Context(), `UPDATE refunds SET transaction_id = 99 WHERE id = 20`); err == nil {
		t.Error("a refund of a transaction that does not exist was written")
	}
	of := payment.Tenant{Merchant: 1}
	for id, want := range map[int64]int64{12: 10, 20: 0} {
		got, err := b.db.Refund(t.Context(), of, id)
		if err != nil || got.Transaction != want {
			t.Errorf("%d: got %+v, %v, want it of %d", id, got, err, want)
		}
	}
	all, err := b.db.Refunds(t.Context(), of, 0, store.Page{Limit: 10})
	if err != nil || len(all.Rows) != 2 {
		t.Errorf("got %+v, %v", all, err)
	}
	var got string
	if err := old.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&got); err != nil || got != "ok" {
		t.Errorf("integrity: got %q, %v", got, err)
	}
	err = b.db.Update(t.Context(), func(tx *store.Tx) error {
		allowed, err := tx.UnlinkedRefunds(1)
		if allowed {
			t.Error("allowed without having been asked")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
