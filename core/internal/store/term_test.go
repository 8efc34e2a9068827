package store_test

import (
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestTermsCostAPlainPaymentNothing counts the statements of an intent: one more for each of customer and reference, none without.
func TestTermsCostAPlainPaymentNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	intent := func(id int64, terms store.Terms) int {
		t.Helper()
		n := 0
		err := b.db.Update(t.Context(), func(tx *store.Tx) error {
			done := tx.CountStatements(&n)
			defer done()
			txn := &payment.Transaction{
				ID: id, Tenant: tenant, Amount: 100, Currency: "usd", PaymentMethod: "card", Details: []byte("{}"), CreatedAt: tx.Now, UpdatedAt: tx.Now,
			}
			if err := tx.InsertTransaction(txn); err != nil {
				return err
			}
			return tx.InsertTerms(tenant, id, terms)
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	intent(1, store.Terms{Customer: "c", Reference: "r"}) // prepares all there is
	for i, c := range []struct {
		terms            store.Terms
		statements, rows int
	}{
		{store.Terms{}, 1, 2},
		{store.Terms{Reference: "r"}, 2, 3},
		{store.Terms{Customer: "c"}, 2, 4},
		{store.Terms{Customer: "c", Reference: "r"}, 3, 6},
	} {
		if got := intent(int64(i+2), c.terms); got != c.statements {
			t.Errorf("%+v: got %d statements, want %d", c.terms, got, c.statements)
		}
		if got := b.MustCount(t, "transaction_terms"); got != c.rows {
			t.Errorf("%+v: got %d rows, want %d", c.terms, got, c.rows)
		}
	}
}

// TestTermsAndSwitchesInAFileThatHadRows: payments from before are found by what they name, and merchants from before are in service.
func TestTermsAndSwitchesInAFileThatHadRows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.path = filepath.Join(t.TempDir(), "old.db")
	if err := store.MigrateTo(t.Context(), b.path, 13); err != nil {
		t.Fatal(err)
	}
	const txn = `INSERT INTO transactions (id, merchant_id, live, status, auto_capture, amount, currency, payment_method, details, created_at, updated_at) VALUES `
	mustExecAll(t, b.MustWrite(t), append([]string{
		`INSERT INTO merchants (id, name, created_at, unlinked_refunds) VALUES (1, 'shop', 1, 1)`,
		txn + `(20, 1, 0, 'declined', 1, 100, 'usd', 'card', '{"reference":"r-1"}', 1, 1)`,
		txn + `(21, 1, 0, 'declined', 1, 100, 'usd', 'card', '{"customer":"cus_1"}', 1, 1)`,
		txn + `(22, 1, 0, 'declined', 1, 100, 'usd', 'card', '{"reference":"r-1","customer":"cus_1"}', 1, 1)`,
		txn + `(23, 1, 1, 'declined', 1, 100, 'usd', 'card', '{"reference":"r-1","customer":"cus_1"}', 1, 1)`, // the other mode's
		txn + `(24, 1, 0, 'declined', 1, 100, 'usd', 'card', '{"reference":"","customer":null}', 1, 1)`,
		`INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at) VALUES (30, 1, 0, '{}', 1, 1, 1)`,
		`INSERT INTO payment_methods (id, merchant_id, live, customer_id, kind, fingerprint, details, vault_key, number, created_at)
			VALUES (31, 1, 0, 30, 'card', 'f', '{}', 1, x'01', 1)`,
	}, checkedRows...))
	b.db = b.MustOpen(t)
	of := payment.Tenant{Merchant: 1}
	for _, c := range []struct {
		filter store.TransactionFilter
		want   []int64
	}{
		{store.TransactionFilter{Reference: "r-1"}, []int64{22, 20}},
		{store.TransactionFilter{Customer: "cus_1"}, []int64{22, 21}},
		{store.TransactionFilter{Customer: "cus_1", Reference: "r-1"}, []int64{22}},
		{store.TransactionFilter{Reference: "r-2"}, nil},
	} {
		got, err := b.db.FilteredTransactions(t.Context(), of, c.filter, store.Page{Limit: 10})
		if err != nil || len(got.Rows) != len(c.want) {
			t.Fatalf("%+v: got %+v, %v, want %v", c.filter, got.Rows, err, c.want)
		}
		for i, row := range got.Rows {
			if row.ID != c.want[i] {
				t.Errorf("%+v: got %d, want %d", c.filter, row.ID, c.want[i])
			}
		}
	}
	if got := b.MustCount(t, "transaction_terms"); got != 6 {
		t.Errorf("terms: got %d rows, want 6", got)
	}
	m, err := b.db.Merchant(t.Context(), 1)
	if err != nil || !m.DisabledAt.IsZero() || m.Name != "shop" || !m.UnlinkedRefunds {
		t.Errorf("merchant: got %+v, %v", m, err)
	}
	methods, err := b.db.Methods(t.Context(), of, 30, "", store.Page{Limit: 10})
	if err != nil || len(methods.Rows) != 1 || methods.Rows[0].ID != 31 {
		t.Errorf("payment methods: got %+v, %v", methods.Rows, err)
	}
	if got := b.MustCount(t, "store_probes"); got != 0 {
		t.Errorf("probes: got %d rows before anybody asked", got)
	}
}
