package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// mustDeleteCustomer inserts a deleted customer of a tenant with n payments that name the merchant.
// The erasure of these is due at a time.
func mustDeleteCustomer(t *testing.T, s *coretest.Service, tenant payment.Tenant, n int, due time.Time) {
	t.Helper()
	customer, first := s.IDs.Next(), s.Number(t, "SELECT COALESCE(MAX(id), 0) FROM transactions")
	s.MustExec(t, `INSERT INTO transactions (id, merchant_id, live, status, auto_capture, amount, currency,
			payment_method, details, created_at, updated_at)
		`+numbered+`SELECT i + ?3, ?1, 0, 'captured', 1, 100, 'usd', '', CAST(?4 AS TEXT) || (i + ?3) || '"}}', 1, 1
		FROM n`,
		tenant.Merchant, n, first, fmt.Sprintf(`{"billing":{"first_name":"of %d, `, tenant.Merchant))
	s.MustExec(t, `INSERT INTO transaction_terms (merchant, is_live, kind, term, transaction_id)
		`+numbered+`SELECT ?1, 0, 1, ?4, i + ?3 FROM n`, tenant.Merchant, n, first, id.Format(id.Customer, customer))
	s.MustExec(t, `INSERT INTO customer_erasures (customer_id, merchant_id, live, deleted_at, due_at)
		VALUES (?, ?, 0, 1, ?)`,
		customer, tenant.Merchant, due.UnixMilli())
}

// TestDeletedCustomersDelayNoOtherTenant: a merchant has deleted one customer with several pages of
// payments, and more with some. The payments of another merchant's customer become due during the
// pass. They are erased after two pages.
func TestDeletedCustomersDelayNoOtherTenant(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	other := mustMerchant(t, s)
	s.Clock.Advance(keptAge)
	mustDeleteCustomer(t, s, s.Tenant, 350, s.Clock.Now().Add(-2*time.Hour))
	for range 3 {
		mustDeleteCustomer(t, s, s.Tenant, 60, s.Clock.Now().Add(-time.Hour))
	}
	mustDeleteCustomer(t, s, other, 1, s.Clock.Now().Add(time.Hour))
	seen, before := map[string]bool{}, 0
	erase := func(kind string, data []byte) []byte {
		if len(seen) == 0 {
			s.Clock.Advance(2 * time.Hour)
		}
		seen[string(data)] = true // a command may run twice
		if before == 0 && strings.Contains(string(data), fmt.Sprintf("of %d,", other.Merchant)) {
			before = len(seen) - 1
		}
		return impersonal(kind, data)
	}
	if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), 0, erase); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 531 || before == 0 || before > 200 {
		t.Errorf("payments before the other merchant's: got %d of %d, want 1 to 200 of 531", before, len(seen))
	}
}
