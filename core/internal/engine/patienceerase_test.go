package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// mustRefundOften makes a payment with many refunds with personal data, and returns its number.
func mustRefundOften(t *testing.T, s *coretest.Service, refunds int) int64 {
	t.Helper()
	a, err := s.Pay(t.Context(), s.Request(""), 100_000, true)
	if err != nil || a.Status != 201 {
		t.Fatalf("pay: %d, %v", a.Status, err)
	}
	s.MustExec(t, fmt.Sprintf(`INSERT INTO refunds
		(id, transaction_id, merchant_id, live, state, amount, currency, details, created_at, updated_at, client_address)
		WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
		SELECT %d + n, id, merchant_id, live, 'succeeded', 1, 'usd', '{"metadata":{"name":"Erika"}}', created_at, updated_at, '203.0.113.7'
		FROM transactions CROSS JOIN numbers WHERE id = (SELECT MAX(id) FROM transactions)`, refunds, s.IDs.Next()))
	s.Clock.Advance(time.Minute) // past the ids of the refunds
	return s.Number(t, "SELECT MAX(id) FROM transactions")
}

// mustChangeOften makes a customer with many events, and returns its number.
func mustChangeOften(t *testing.T, s *coretest.Service, events int) int64 {
	t.Helper()
	if a, err := s.Engine.CreateCustomer(t.Context(), s.Request(""), []byte(`{"email":"Erika"}`)); err != nil || a.Status != 201 {
		t.Fatalf("customer: %d, %v", a.Status, err)
	}
	customer := s.Number(t, "SELECT MAX(id) FROM customers")
	s.MustExec(t, fmt.Sprintf(`INSERT INTO events (id, merchant_id, live, type, object_id, sequence, data, created_at)
		WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
		SELECT %d + n, %d, 0, 'customer.updated', %d, n + 1, '{"id":"cus","object":"customer","email":"Erika"}', 1 FROM numbers`,
		events, s.IDs.Next(), s.Tenant.Merchant, customer))
	s.Clock.Advance(time.Minute) // past the ids of the events
	return customer
}

// dyingErase calls erase, and ends ctx and panics at the first call that dies selects.
func dyingErase(
	ctx context.Context, erase func(string, []byte) []byte, dies func(call int) bool,
) (alive context.Context, dying func(string, []byte) []byte) {
	calls := 0
	alive, end := context.WithCancel(ctx)
	return alive, func(kind string, data []byte) []byte {
		if calls++; dies(calls) {
			end()
			panic("the process ends here")
		}
		return erase(kind, data)
	}
}

// atCall selects the n-th call of dyingErase.
func atCall(n int) func(call int) bool { return func(call int) bool { return call >= n } }

// TestManyRefundsAreErasedInPages: the process dies at several rows. A payment that is not erased
// has all its personal data. If a payment is erased in part, the next pass erases the rest. A
// refund after the erasure keeps its own data for its period.
func TestManyRefundsAreErasedInPages(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	const refunds = 350
	transaction := mustRefundOften(t, s, refunds)
	s.MustExec(t, "UPDATE transactions SET details = ?", personalDetails)
	const amounts = "SELECT amount_captured * 3 + amount_refunded * 5 + version * 7 FROM transactions"
	before := s.Number(t, amounts)
	s.Clock.Advance(keptAge)
	left := func() int64 {
		return s.Number(t, "SELECT COUNT(*) FROM refunds WHERE details LIKE '%Erika%' OR client_address <> ''")
	}
	waits := func() int64 { return s.Number(t, "SELECT COUNT(*) FROM delayed_erasures WHERE name = 'payment_parts'") }
	// A commit may run again, so a number of calls is not the number of committed rows.
	for at, dies := range []func(call int) bool{atCall(1), atCall(50), func(int) bool { return left() < refunds }, atCall(40)} {
		ctx, erase := dyingErase(t.Context(), impersonal, dies)
		if _, err := s.DB.ErasePersonal(ctx, s.Clock.Now(), keptDays, erase); err == nil {
			t.Fatalf("death %d: the pass went on", at)
		}
		erased := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE erased_at > 0 AND details NOT LIKE '%Erika%'")
		if erased == 0 && left() != refunds || erased == 1 && (left() == 0 || waits() != 1) {
			t.Errorf("death %d: erased %d, %d refunds left, %d wait", at, erased, left(), waits())
		}
	}
	if left() == refunds || waits() != 1 {
		t.Fatalf("%d refunds left, %d wait", left(), waits())
	}
	wantNumber(t, s, "amounts", amounts, before)
	s.Clock.Advance(time.Second)
	late := []byte(`{"metadata":{"name":"Erika"}}`)
	if a, err := s.Engine.Refund(t.Context(), s.Request("late"), transaction, 0, 10, late); err != nil || a.Status != 201 {
		t.Fatalf("refund: %d, %v", a.Status, err)
	}
	mustErase(t, s)
	if left() != 1 || waits() != 0 {
		t.Errorf("got %d refunds left, %d wait, want the late one alone", left(), waits())
	}
	later := s.Number(t, "SELECT COUNT(*) FROM erased_objects") // the rows after the first commit, including the capture
	if later < refunds+1-99 || later > refunds+1-16 {
		t.Errorf("objects whose events are erased: got %d, want %d to %d", later, refunds+1-99, refunds+1-16)
	}
	s.Clock.Advance(keptAge)
	mustErase(t, s)
	if got := personalRows(t, s); got != 0 {
		t.Errorf("rows with personal data: got %d, want 0", got)
	}
	wantNumber(t, s, "delayed", "SELECT COUNT(*) FROM delayed_erasures", 0)
}

// TestOneErasureHoldsNoWriter: no commit of an erasure changes many rows, however many refunds a
// payment has, or events a customer has.
func TestOneErasureHoldsNoWriter(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	rows, most := 0, 0
	count := func(erase func(string, []byte) []byte) func(string, []byte) []byte {
		return func(kind string, data []byte) []byte { rows++; return erase(kind, data) }
	}
	mustRefundOften(t, s, 1000)
	MustPayPersonal(t, s, 1)
	customer := mustChangeOften(t, s, 1000)
	s.Clock.Advance(keptAge)
	s.DB.Observe(func(store.Batch) { rows, most = 0, max(most, rows) }, nil)
	if a, err := s.Engine.DeleteCustomer(t.Context(), s.Request(""), customer, nil); err != nil || a.Status != 200 {
		t.Fatalf("delete: %d, %v", a.Status, err)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%'"); got < 900 {
		t.Errorf("events after the deletion: got %d, want at least 900", got)
	}
	if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), keptDays, count(impersonal)); err != nil {
		t.Error(err)
	}
	if _, err := s.DB.EraseCustomerEvents(t.Context(), s.Clock.Now(), count(api.Erased)); err != nil {
		t.Error(err)
	}
	if most == 0 || most > 2*120 { // a server repeats each command once
		t.Errorf("rows in one commit: got %d, want at most 120", most)
	}
	if got := personalIn(t, s); got != 0 {
		t.Errorf("rows with personal data: got %d, want 0", got)
	}
}

// wantHidden checks that no event is shown with personal data.
func wantHidden(t *testing.T, s *coretest.Service) {
	t.Helper()
	events, err := s.DB.Events(t.Context(), s.Tenant, payment.EventFilter{}, payment.Page{Limit: 1000})
	if err != nil || len(events.Rows) < 100 {
		t.Fatalf("got %d events, %v", len(events.Rows), err)
	}
	for _, e := range events.Rows {
		if shown := string(api.Event(e)); strings.Contains(shown, "Erika") {
			t.Fatalf("got %s", shown)
		}
	}
}

// TestCustomerEventsEndMidway: the process dies at several events of a deleted customer, and the
// store refuses one event. The customer is deleted immediately, no event is shown with personal
// data, and later passes erase all events.
func TestCustomerEventsEndMidway(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	series := scraped(s)
	customer := mustChangeOften(t, s, 350)
	if a, err := s.Engine.DeleteCustomer(t.Context(), s.Request(""), customer, nil); err != nil || a.Status != 200 {
		t.Fatalf("delete: %d, %v", a.Status, err)
	}
	wantNumber(t, s, "customers", "SELECT COUNT(*) FROM customers WHERE deleted_at = 0", 0)
	wantHidden(t, s)
	const left = "SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%'"
	for _, at := range []int{1, 150, 150} { // the last pass has 201 events or more
		ctx, erase := dyingErase(t.Context(), api.Erased, atCall(at))
		if _, err := s.DB.EraseCustomerEvents(ctx, s.Clock.Now(), erase); err == nil {
			t.Fatalf("at event %d: the pass went on", at)
		}
		wantHidden(t, s)
	}
	refused := s.Number(t, "SELECT MAX(id) FROM events WHERE data LIKE '%Erika%'")
	end := s.MustRefuse(t, "UPDATE", "events", fmt.Sprintf("NEW.id = %d", refused))
	s.Clock.Advance(keptAge)
	for range 2 { // the second one is before the next attempt
		if _, err := s.DB.EraseCustomerEvents(t.Context(), s.Clock.Now(), api.Erased); err != nil {
			t.Error(err)
		}
		mustErase(t, s)
		wantNumber(t, s, "events with personal data", left, 1)
		wantHidden(t, s)
	}
	wantSkipped(t, s, series, "erasure", refused)
	end()
	s.Clock.Advance(2 * time.Hour)
	if _, err := s.DB.EraseCustomerEvents(t.Context(), s.Clock.Now(), api.Erased); err != nil {
		t.Error(err)
	}
	wantNumber(t, s, "events with personal data", left, 0)
	mustErase(t, s)
	wantNumber(t, s, "customers to be erased", "SELECT COUNT(*) FROM customer_erasures", 0)
}
