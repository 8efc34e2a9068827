package store_test

import (
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestTermStatements: an intent runs one more statement for a customer and one for a reference.
func TestTermStatements(t *testing.T) {
	t.Parallel()
	b := setup(t)
	intent := func(id int64, terms payment.Terms) int {
		t.Helper()
		n := 0
		err := b.db.Update(t.Context(), func(tx *store.Tx) error {
			tx.CountStatements(&n)
			txn := &payment.Transaction{
				ID: id, Tenant: tenant, Amount: 100, Currency: "usd", PaymentMethod: "card", Details: []byte("{}"),
				CreatedAt: tx.Now, UpdatedAt: tx.Now,
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
	intent(1, payment.Terms{Customer: "c", Reference: "r"})
	for i, c := range []struct {
		terms            payment.Terms
		statements, rows int
	}{
		{payment.Terms{}, 1, 2},
		{payment.Terms{Reference: "r"}, 2, 3},
		{payment.Terms{Customer: "c"}, 2, 4},
		{payment.Terms{Customer: "c", Reference: "r"}, 3, 6},
	} {
		if got := intent(int64(i+2), c.terms); got != c.statements {
			t.Errorf("%+v: got %d statements, want %d", c.terms, got, c.statements)
		}
		if got := b.MustCount(t, "transaction_terms"); got != c.rows {
			t.Errorf("%+v: got %d rows, want %d", c.terms, got, c.rows)
		}
	}
}
