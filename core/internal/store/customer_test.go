package store_test

import (
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestCustomersAndPartialPaymentsInAFileThatHadRows: customers from before are found too, and payments from before are all or nothing.
func TestCustomersAndPartialPaymentsInAFileThatHadRows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.path = filepath.Join(t.TempDir(), "old.db")
	if err := store.MigrateTo(t.Context(), b.path, 11); err != nil {
		t.Fatal(err)
	}
	const customer = `INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at, deleted_at) VALUES `
	mustExecAll(t, b.MustWrite(t), append([]string{
		customer + `(20, 1, 0, '{"reference":"c-7","email":"ann@example.com"}', 1, 1, 1, 0)`,
		customer + `(21, 1, 0, '{}', 1, 1, 1, 0)`,
		customer + `(22, 1, 0, '{"reference":"c-7"}', 2, 1, 1, 1)`, // deleted
		customer + `(23, 2, 0, '{"reference":"c-7"}', 1, 1, 1, 0)`, // another merchant's
	}, checkedRows...))
	b.db = b.MustOpen(t)
	of := payment.Tenant{Merchant: 1}
	for _, f := range []store.CustomerFilter{{Reference: "c-7"}, {Email: "ann@example.com"}, {Reference: "c-7", Email: "ann@example.com"}} {
		got, err := b.db.Customers(t.Context(), of, f, store.Page{Limit: 10})
		if err != nil || len(got.Rows) != 1 || got.Rows[0].ID != 20 || got.Rows[0].Default != 0 {
			t.Errorf("%+v: got %+v, %v", f, got.Rows, err)
		}
	}
	if got, err := b.db.Transaction(t.Context(), of, 10); err != nil || got.Partial || got.Captured != 100 {
		t.Errorf("got %+v, %v", got, err)
	}
}
