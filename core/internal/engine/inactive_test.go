package engine_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/id"
)

const keptDay = 24 * time.Hour

// MustPaidCustomer makes a customer, and a captured payment of it with a refund. Only the terms
// link them.
func MustPaidCustomer(t *testing.T, s *coretest.Service) (customer int64) {
	t.Helper()
	customer = s.IDs.Next()
	s.Database.MustExec(t, `INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at)
		VALUES (?, ?, 0, '{}', 1, ?, ?)`, customer, s.Tenant.Merchant, s.Clock.Now().UnixMilli(), s.Clock.Now().UnixMilli())
	MustPayPersonal(t, s, 1)
	name := id.Format(id.Customer, customer)
	s.Database.MustExec(t, "UPDATE transactions SET details = ?", `{"customer":"`+name+`","billing":{"first_name":"Erika"}}`)
	s.Database.MustExec(t, `INSERT INTO transaction_terms (merchant, is_live, kind, term, transaction_id)
		SELECT merchant_id, live, 1, ?, id FROM transactions`, name)
	return customer
}

// wantInactive checks how many customers the deletion of inactive customers deletes.
func wantInactive(t *testing.T, s *coretest.Service, days int, want int64) {
	t.Helper()
	if n, err := s.Engine.DeleteInactiveCustomers(t.Context(), days); err != nil || n != want {
		t.Errorf("got %d customers deleted, %v, want %d", n, err, want)
	}
}

// TestOpenPaymentKeepsItsCustomer leaves the customer of an open payment: it has no outcome yet,
// can still be confirmed or has a pending step. It deletes the customer after the end of the
// payment.
func TestOpenPaymentKeepsItsCustomer(t *testing.T) {
	t.Parallel()
	const reversal = `INSERT INTO reversals (kind, transaction_id, merchant_id, live, amount, currency, captured, since, due_at)
		SELECT 'authorize', id, merchant_id, live, amount, currency, 0, 1, 1 FROM transactions`
	const update = "UPDATE transactions SET "
	for open, ended := range map[string]string{
		update + "operation = 'void', operation_id = 1": update + "operation = '', operation_id = 0",
		update + "status = 'processing'":                update + "status = 'captured'",
		update + "status = 'unknown'":                   update + "status = 'captured'",
		update + "status = 'requires_confirmation'":     update + "status = 'captured'",
		update + "status = 'requires_action'":           update + "status = 'captured'",
		update + "status = 'pending_review'":            update + "status = 'captured'",
		update + "amount_refund_pending = 1":            update + "amount_refund_pending = 0",
		update + "amount_captured = amount_captured - 20, amount_capture_pending = 20": update +
			"amount_captured = amount_captured + 20, amount_capture_pending = 0",
		reversal: "DELETE FROM reversals",
	} {
		t.Run(open, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			MustPaidCustomer(t, s)
			s.Database.MustExec(t, open)
			s.Clock.Advance(2 * keptAge)
			wantInactive(t, s, keptDays, 0)
			s.Database.MustExec(t, ended)
			wantInactive(t, s, keptDays, 1)
		})
	}
}

// TestRefundKeepsItsCustomer counts the period of a customer from the last refund, also after the
// payment was erased.
func TestRefundKeepsItsCustomer(t *testing.T) {
	t.Parallel()
	for _, erased := range []bool{false, true} {
		s := coretest.Open(t)
		MustPaidCustomer(t, s)
		s.Clock.Advance(300 * keptDay)
		txn := s.Number(t, "SELECT id FROM transactions")
		if a, err := s.Engine.Refund(t.Context(), s.Request("late"), txn, 0, 10, []byte("{}")); err != nil || a.Status != 201 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
		s.Clock.Advance(100 * keptDay)
		if erased {
			MustErase(t, s, 1)
		}
		wantInactive(t, s, 365, 0)
		s.Clock.Advance(266 * keptDay)
		wantInactive(t, s, 365, 1)
	}
}

// MustErase runs an erasure, and checks the number of erased and unlinked transactions after it.
func MustErase(t *testing.T, s *coretest.Service, want int64) {
	t.Helper()
	if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), keptDays, impersonal); err != nil {
		t.Fatal(err)
	}
	if got := s.Number(t, `SELECT COUNT(*) FROM transactions WHERE erased_at > 0
		AND NOT EXISTS (SELECT 1 FROM transaction_terms WHERE transaction_id = transactions.id)`); got != want {
		t.Fatalf("got %d erased transactions, want %d", got, want)
	}
}

// TestLastPaymentNeverMovesBack erases an older payment after a younger one. The customer is kept
// by the younger one, for its whole period and no longer.
func TestLastPaymentNeverMovesBack(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	customer := MustPaidCustomer(t, s)
	older := s.Number(t, "SELECT id FROM transactions")
	s.Database.MustExec(t, "UPDATE transactions SET operation = 'void', operation_id = 1")
	s.Clock.Advance(200 * keptDay)
	a, err := s.Pay(t.Context(), s.Request("younger"), 100, true)
	if err != nil || a.Status != 201 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	name := id.Format(id.Customer, customer)
	s.Database.MustExec(t, "UPDATE transactions SET details = ? WHERE id > ?", `{"customer":"`+name+`"}`, older)
	s.Database.MustExec(t, `INSERT INTO transaction_terms (merchant, is_live, kind, term, transaction_id)
		SELECT merchant_id, live, 1, ?, id FROM transactions WHERE id > ?`, name, older)
	s.Clock.Advance(100 * keptDay)
	MustErase(t, s, 1)
	s.Database.MustExec(t, "UPDATE transactions SET operation = '', operation_id = 0")
	s.Clock.Advance(keptDay)
	MustErase(t, s, 2)
	if got, want := s.Number(t, "SELECT last_paid_at FROM customers"), s.Number(t, "SELECT MAX(created_at) FROM transactions"); got != want {
		t.Errorf("last paid at %d, want %d", got, want)
	}
	s.Clock.Advance(263 * keptDay) // 364 days after the younger payment
	wantInactive(t, s, 365, 0)
	s.Clock.Advance(2 * keptDay)
	wantInactive(t, s, 365, 1)
}
