package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// mustCustomers inserts n customers with the ids after first. They were last changed at the first
// time, and deleted at the second one; 0 for not deleted.
func mustCustomers(t *testing.T, s *coretest.Service, tenant payment.Tenant, first int64, n int, changed time.Time, deleted int64) {
	t.Helper()
	s.Database.MustExec(t, `INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at, deleted_at)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT ? + i, ?, CAST(? AS INTEGER), '{}', 1, ?, ?, ? FROM n`,
		n, first, tenant.Merchant, map[bool]int64{true: 1}[tenant.Live], changed.UnixMilli(), changed.UnixMilli(), deleted)
}

// TestAgedCustomersOfATenant reads the aged customers of one tenant alone. It reads no deleted
// customer and no customer with an id of the period, however many there are. No pass reports them
// as inactive.
func TestAgedCustomersOfATenant(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	since := s.Clock.Now().Add(30 * keptDay)
	old, before := since.Add(-keptDay), id.At(since.Add(-2*keptDay))
	mustCustomers(t, s, s.Tenant, before, 1, old, 0)
	mustCustomers(t, s, s.Tenant, before+1, 600, old, 1)
	mustCustomers(t, s, payment.Tenant{Merchant: s.Tenant.Merchant, Live: true}, before+1000, 1, old, 0)
	mustCustomers(t, s, payment.Tenant{Merchant: s.Tenant.Merchant + 1}, before+2000, 1, old, 0)
	mustCustomers(t, s, s.Tenant, id.At(since), 600, since, 0)
	aged, next, err := s.DB.AgedCustomers(t.Context(), s.Tenant, since, 0)
	if err != nil || !slices.Equal(aged, []int64{before + 1}) || next != 0 {
		t.Errorf("got customers %v, go on after %d, %v: want %d and 0", aged, next, err, before+1)
	}
	s.Clock.Advance(30*keptDay + keptAge)
	s.Database.MustExec(t, "UPDATE customers SET updated_at = ? WHERE id > ?", s.Clock.Now().UnixMilli(), id.At(since))
	due, err := s.DB.DueErasures(t.Context(), s.Clock.Now(), payment.Retention{Customers: keptDays})
	rows := map[payment.Tenant]int64{}
	for _, d := range due {
		if d.Kind == "inactive_customers" {
			rows[d.Tenant] += d.Rows
		}
	}
	if err != nil || rows[s.Tenant] != 1 || len(rows) != 2 {
		t.Errorf("got %+v, %v: want one inactive customer of each mode", due, err)
	}
}

// TestErasedObjectsStayForAMinute: another core can commit events of an erased payment after the
// pass has read its events. The next pass erases them, so the payment stays in the list for a
// minute, also if the clock is set ahead.
func TestErasedObjectsStayForAMinute(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	MustPayPersonal(t, s, 1)
	s.Database.MustExec(t, "UPDATE transactions SET updated_at = created_at + ?", (5 * keptDay).Milliseconds())
	s.Clock.Advance(keptAge)
	if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), keptDays, impersonal); err != nil {
		t.Fatal(err)
	}
	pass := func(want int64) {
		t.Helper()
		if _, err := s.DB.ErasePersonalEvents(t.Context(), s.Clock.Now(), impersonal); err != nil {
			t.Fatal(err)
		}
		if got := s.Number(t, "SELECT COUNT(*) FROM erased_objects"); got != want {
			t.Errorf("got %d erased objects, want %d", got, want)
		}
	}
	pass(3) // the payment, its capture and its refund
	s.Clock.Step(keptDay)
	pass(3)
	s.Database.MustExec(t, `INSERT INTO events (id, merchant_id, live, type, object_id, sequence, data, created_at)
		SELECT ?, merchant_id, live, 'transaction.captured', id, 9, '{"id":"x","billing":{"first_name":"Erika"}}', created_at
		FROM transactions`, s.IDs.Next())
	s.Clock.Step(-keptDay)
	s.Clock.Advance(2 * time.Minute)
	pass(0)
	if got := s.Number(t, "SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%'"); got != 0 {
		t.Errorf("got %d events with the name", got)
	}
}
