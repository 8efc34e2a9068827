package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	passes "github.com/causeway-pay/causeway/core/internal/store/pass"
)

// numbered begins a statement that inserts ?2 rows.
const numbered = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) "

// mustBeDue inserts payments of a tenant whose time is over, n of each kind.
func mustBeDue(t *testing.T, s *coretest.Service, tenant payment.Tenant, n int) {
	t.Helper()
	for i, status := range []payment.Status{payment.Authorized, payment.RequiresConfirmation} {
		s.MustExec(t, `INSERT INTO transactions (id, merchant_id, live, status, auto_capture, amount, currency,
				payment_method, amount_authorized, details, created_at, updated_at, expires_at)
			`+numbered+`SELECT i + ?4 * ?2, ?1, 0, ?3, 0, 100, 'usd', '', 100 - 100 * ?4, '{}', 1, 1, i FROM n`,
			tenant.Merchant, n, string(status), i)
	}
}

// TestDuePaymentsDelayNoOtherTenant: a merchant has several pages of payments whose time ended. The
// time of another merchant's payments ends during the pass. They end after two pages of each kind.
func TestDuePaymentsDelayNoOtherTenant(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	many, other := s.Tenant, mustMerchant(t, s)
	mustBeDue(t, s, many, 1100)
	s.Tenant = other
	mustPay(t, s, false)
	if a, err := s.Prepare(t.Context(), s.Request(""), 100, false); err != nil || a.Status != 201 {
		t.Fatalf("prepare: %d, %v", a.Status, err)
	}
	s.MustExec(t, "UPDATE transactions SET expires_at = ? WHERE merchant_id = ?",
		s.Clock.Now().Add(time.Hour).UnixMilli(), other.Merchant)
	s.MustExec(t, "DELETE FROM events")
	s.MustRefuse(t, "UPDATE", "transactions", "NEW.id = 1")
	s.DB.ObserveSkips(func(context.Context, passes.Skip) { s.Clock.Advance(2 * time.Hour) })
	mustExpireSome(t, s, 2201)
	wantNumber(t, s, "events of the other merchant",
		fmt.Sprintf("SELECT COUNT(*) FROM events WHERE merchant_id = %d", other.Merchant), 2)
	before := s.Number(t, `SELECT COUNT(*) FROM events WHERE merchant_id = ?
		AND id < (SELECT MAX(id) FROM events WHERE merchant_id = ?)`, many.Merchant, other.Merchant)
	if before == 0 || before > 2000 {
		t.Errorf("events of the first merchant before these: got %d, want at most 2000", before)
	}
}
