package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// The tests of starve_test.go for the passes that erase personal data.

// TestRefusedErasureStopsNoOther: in each table a row is refused that comes first.
func TestRefusedErasureStopsNoOther(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"transactions", "captures", "refunds", "events", "customers", "payment_methods"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			series := scraped(s)
			mustHavePersonal(t, s)
			refused := s.Number(t, "SELECT MIN(id) FROM "+table)
			before := personalIn(t, s)
			end := s.MustRefuse(t, "UPDATE", table, fmt.Sprintf("NEW.id = %d", refused))
			s.Clock.Advance(keptAge)
			mustErase(t, s)
			left := int64(1)
			if table == "transactions" || table == "captures" || table == "refunds" {
				left = 3 // a transaction is erased as a whole or not at all
			}
			if got := personalIn(t, s); got != left {
				t.Errorf("rows with personal data: got %d of %d, want %d", got, before, left)
			}
			logged := refused
			if table == "captures" || table == "refunds" {
				logged = s.Number(t, "SELECT MIN(id) FROM transactions")
			}
			wantSkipped(t, s, series, "erasure", logged)
			mustErase(t, s)
			end()
			s.Clock.Advance(2 * time.Hour)
			mustErase(t, s)
			if got := personalIn(t, s); got != 0 {
				t.Errorf("rows with personal data once none is refused: got %d, want 0", got)
			}
			wantNumber(t, s, "delayed", "SELECT COUNT(*) FROM delayed_erasures", 0)
		})
	}
}

func mustErase(t *testing.T, s *coretest.Service) {
	t.Helper()
	if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), keptDays, impersonal); err != nil {
		t.Error(err)
	}
}

// mustHavePersonal makes three captured and refunded payments, customers and payment methods with
// personal data.
func mustHavePersonal(t *testing.T, s *coretest.Service) {
	t.Helper()
	MustPayPersonal(t, s, 3)
	now := s.Clock.Now().UnixMilli()
	for range 3 {
		customer := s.IDs.Next()
		s.MustExec(t, `INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at, client_address)
			VALUES (?, ?, 0, '{}', 1, ?, ?, '203.0.113.7')`, customer, s.Tenant.Merchant, now, now)
		s.MustExec(t, `INSERT INTO payment_methods
				(id, merchant_id, live, customer_id, kind, details, vault_key, fingerprint, created_at, detached_at, client_address)
			VALUES (?, ?, 0, ?, 'card', '{}', 1, '', ?, ?, '203.0.113.7')`, s.IDs.Next(), s.Tenant.Merchant, customer, now, now)
	}
	s.MustExec(t, "UPDATE events SET data = ? WHERE type = 'transaction.captured'", `{"metadata":{"name":"Erika"}}`)
}

// personalIn counts the rows with personal data.
func personalIn(t *testing.T, s *coretest.Service) int64 {
	t.Helper()
	return personalRows(t, s) + s.Number(t, `SELECT (SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%')
		+ (SELECT COUNT(*) FROM customers WHERE client_address <> '')
		+ (SELECT COUNT(*) FROM payment_methods WHERE client_address <> '')`)
}

// TestRefusedErasureOfADeletedCustomerStopsNoOther: the refusal stops neither the erasure of its
// other transactions nor of the next deleted customer's.
func TestRefusedErasureOfADeletedCustomerStopsNoOther(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	series := scraped(s)
	customers := []int64{MustPaidCustomer(t, s), s.IDs.Next()}
	s.MustExec(t, "UPDATE transactions SET details = ?", `{"billing":{"first_name":"Erika"}}`)
	MustPayPersonal(t, s, 3)
	transactions := s.Number(t, "SELECT COUNT(*) FROM transactions")
	refused := s.Number(t, "SELECT MIN(id) FROM transactions")
	s.MustExec(t, "DELETE FROM transaction_terms")
	for i, customer := range customers {
		s.MustExec(t, `INSERT INTO transaction_terms (merchant, is_live, kind, term, transaction_id)
			SELECT merchant_id, live, 1, ?, id FROM transactions 
			WHERE id <= ? AND ? = 0 OR id > ? AND ? = 1`,
			id.Format(id.Customer, customer), refused, i, refused, i)
		s.MustExec(t, `INSERT INTO customer_erasures (customer_id, merchant_id, live, deleted_at, due_at)
			VALUES (?, ?, 0, ?, ?)`,
			customer, s.Tenant.Merchant, s.Clock.Now().UnixMilli(), s.Clock.Now().UnixMilli()+int64(i))
	}
	end := s.MustRefuse(t, "UPDATE", "transactions", fmt.Sprintf("NEW.id = %d", refused))
	s.Clock.Advance(keptAge)
	erase := func(want int64) {
		t.Helper()
		if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), 0, impersonal); err != nil {
			t.Error(err)
		}
		wantNumber(t, s, "erased", "SELECT COUNT(*) FROM transactions WHERE erased_at > 0", want)
	}
	erase(transactions - 1)
	wantSkipped(t, s, series, "erasure", refused)
	end()
	s.Clock.Advance(2 * time.Hour)
	erase(transactions)
}

// TestRefusedEventStopsNoErasure: the store refuses to erase one event of a payment. The payment
// stays in the list of due erasures until the event is erased too.
func TestRefusedEventStopsNoErasure(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	series := scraped(s)
	MustPayPersonal(t, s, 2)
	mustPayAs(t, s, mustMerchant(t, s))
	s.MustExec(t, "UPDATE events SET data = ?", `{"metadata":{"name":"Erika"}}`)
	s.MustExec(t, `INSERT INTO erased_objects (merchant_id, live, object_id, erased_at)
		SELECT DISTINCT merchant_id, live, object_id, 1 FROM events`)
	refused := s.Number(t, "SELECT MIN(id) FROM events")
	end := s.MustRefuse(t, "UPDATE", "events", fmt.Sprintf("NEW.id = %d", refused))
	s.Clock.Advance(time.Hour)
	erase := func(left int64) {
		t.Helper()
		if _, err := s.DB.ErasePersonalEvents(t.Context(), s.Clock.Now(), impersonal); err != nil {
			t.Error(err)
		}
		wantNumber(t, s, "events with personal data", "SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%'", left)
	}
	erase(1)
	wantSkipped(t, s, series, "erasure", refused)
	end()
	erase(0)
	wantNumber(t, s, "erased objects", "SELECT COUNT(*) FROM erased_objects", 0)
}

func TestRefusedCustomerStopsNoDeletion(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	series := scraped(s)
	for _, tenant := range []payment.Tenant{s.Tenant, s.Tenant, mustMerchant(t, s)} {
		r := s.Request("")
		r.Tenant = tenant
		if a, err := s.Engine.CreateCustomer(t.Context(), r, []byte("{}")); err != nil || a.Status != 201 {
			t.Fatalf("customer: %d, %v", a.Status, err)
		}
	}
	refused := s.Number(t, "SELECT MIN(id) FROM customers")
	end := s.MustRefuse(t, "UPDATE", "customers", fmt.Sprintf("NEW.id = %d", refused))
	s.Clock.Advance(keptAge)
	wantInactive(t, s, keptDays, 2)
	wantSkipped(t, s, series, "inactive_customers", refused)
	end()
	wantInactive(t, s, keptDays, 1)
}
