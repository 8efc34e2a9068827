package engine_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestSettleDuringACapturePostgreSQL: another core captures the rest of a payment while this core
// settles it. The settlement waits for that capture, and settles the sum of both captures.
func TestSettleDuringACapturePostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	if _, err := s.Pay(t.Context(), s.Request(""), 100, false); err != nil {
		t.Fatal(err)
	}
	txn := s.Number(t, "SELECT id FROM transactions")
	if r, err := s.Engine.Capture(t.Context(), s.Request(""), txn, 60, false, nil); err != nil || r.Status != 201 {
		t.Fatalf("capture: %d, %v", r.Status, err)
	}
	whole, err := false, error(nil)
	duringTransaction(t, s, []string{
		"UPDATE transactions SET amount_captured = 100, status = 'captured'",
		`INSERT INTO captures
			(id, transaction_id, merchant_id, live, state, amount, currency, final, created_at, updated_at, captured_at)
			SELECT id + 1, transaction_id, merchant_id, live, state, 40, currency, 1, created_at, updated_at, captured_at
			FROM captures`,
	}, func() {
		err = s.DB.Update(t.Context(), func(tx *store.Tx) (err error) {
			whole, err = tx.SettleThrough(s.Tenant, txn, tx.Now.Add(time.Hour), store.DayTotals{})
			return err
		})
	})
	if err != nil || !whole {
		t.Errorf("got %t, %v, want the whole payment settled", whole, err)
	}
	wantNumber(t, s, "settled", "SELECT amount_settled FROM transactions", 100)
	wantNumber(t, s, "settled captures", "SELECT SUM(amount) FROM captures WHERE settled = 1", 100)
}
