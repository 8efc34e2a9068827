package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

const (
	// keptDays is the period of these tests, and keptAge an age beyond it.
	keptDays = 60
	keptAge  = (keptDays + 2) * 24 * time.Hour
	// personalDetails are details of a payment with personal data.
	personalDetails = `{"card":{"brand":"visa","last4":"4242","exp_month":12,"exp_year":2030,"holder":"Erika"},"billing":{"first_name":"Erika"}}`
)

// MustPayPersonal makes captured transactions with personal data in their rows, a capture and a
// refund each.
func MustPayPersonal(t *testing.T, s *coretest.Service, n int) {
	t.Helper()
	for i := range n {
		a, err := s.Pay(t.Context(), s.Request(fmt.Sprint("pay", i)), 100, true)
		if err != nil || a.Status != 201 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
		txn := s.Number(t, "SELECT MAX(id) FROM transactions")
		if a, err := s.Engine.Refund(t.Context(), s.Request(fmt.Sprint("refund", i)), txn, 0, 10, []byte(`{"metadata":{"name":"Erika"}}`)); err != nil || a.Status != 201 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
	}
	s.Database.MustExec(t, "UPDATE transactions SET details = ?, client_address = '203.0.113.7'", personalDetails)
	s.Database.MustExec(t, "UPDATE captures SET details = ?", `{"metadata":{"name":"Erika"}}`)
}

// amountsAndStates returns a number that depends on the amounts, states, versions and times of
// change of all transactions, captures and refunds.
func amountsAndStates(t *testing.T, s *coretest.Service) int64 {
	t.Helper()
	return s.Number(t, `SELECT (SELECT SUM(amount * 3 + amount_authorized * 5 + amount_captured * 7 + amount_refunded * 11
			+ version * 13 + length(status) * 17 + MOD(updated_at, 1000003)) FROM transactions)
		+ (SELECT SUM(amount * 19 + amount_refunded * 23 + length(state) * 29) FROM captures)
		+ (SELECT SUM(amount * 31 + length(state) * 37) FROM refunds)`)
}

// personalRows counts the transactions, captures and refunds with personal data.
func personalRows(t *testing.T, s *coretest.Service) int64 {
	t.Helper()
	return s.Number(t, `SELECT (SELECT COUNT(*) FROM transactions WHERE details LIKE '%Erika%' OR client_address <> '')
		+ (SELECT COUNT(*) FROM captures WHERE details LIKE '%Erika%') + (SELECT COUNT(*) FROM refunds WHERE details LIKE '%Erika%')`)
}

// halfErased counts the transactions that are erased only in part: some, but not all, of row,
// capture and refund have personal data.
func halfErased(t *testing.T, s *coretest.Service) int64 {
	t.Helper()
	return s.Number(t, `SELECT COUNT(*) FROM transactions t WHERE
		(CASE WHEN details LIKE '%Erika%' THEN 1 ELSE 0 END) <> (CASE WHEN erased_at = 0 THEN 1 ELSE 0 END)
		OR (SELECT COUNT(*) FROM captures c WHERE c.transaction_id = t.id AND c.details LIKE '%Erika%') <> (CASE WHEN erased_at = 0 THEN 1 ELSE 0 END)
		OR (SELECT COUNT(*) FROM refunds r WHERE r.transaction_id = t.id AND r.details LIKE '%Erika%') <> (CASE WHEN erased_at = 0 THEN 1 ELSE 0 END)`)
}

func impersonal(kind string, data []byte) []byte { return api.Impersonal(kind, data) }

// TestErasureEndsMidway ends an erasure at every row once by a panic, like a process that dies. No
// transaction is erased in part, and the next pass continues.
func TestErasureEndsMidway(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	MustPayPersonal(t, s, 4)
	before := amountsAndStates(t, s)
	s.Clock.Advance(keptAge)
	deaths := 0
	for last := 1; ; last++ {
		calls := 0
		ctx, end := context.WithCancel(t.Context())
		_, err := s.DB.ErasePersonal(ctx, s.Clock.Now(), keptDays, func(kind string, data []byte) []byte {
			if calls++; calls >= last { // a server repeats the page once
				end()
				panic("the process ends here")
			}
			return impersonal(kind, data)
		})
		end()
		if got := halfErased(t, s); got != 0 {
			t.Errorf("after the end at row %d: %d transactions are half erased", last, got)
		}
		if err == nil {
			break
		}
		deaths++
	}
	if deaths < 4 { // one for each payment: a slow commit leaves fewer rows to the next pass
		t.Errorf("got %d ends of the process, want one for each payment", deaths)
	}
	if got := personalRows(t, s); got != 0 {
		t.Errorf("got %d rows with personal data at the end", got)
	}
	if got := amountsAndStates(t, s); got != before {
		t.Error("amounts or states changed")
	}
}

// TestErasureOnTwoCores runs the erasures of two cores at the same time, during refunds of the same
// payments.
func TestErasureOnTwoCores(t *testing.T) {
	t.Parallel()
	one := coretest.OpenShared(t)
	two := one.Beside(t)
	const n = 12
	MustPayPersonal(t, one, n)
	one.Clock.Advance(keptAge)
	var all sync.WaitGroup
	for _, s := range []*coretest.Service{one, two} {
		all.Go(func() {
			if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), keptDays, impersonal); err != nil {
				t.Error(err)
			}
		})
	}
	first := one.Number(t, "SELECT MIN(id) FROM transactions")
	all.Go(func() {
		for i := range 5 {
			a, err := two.Engine.Refund(t.Context(), two.Request(fmt.Sprint("late", i)), first, 0, 1, []byte("{}"))
			if err != nil || a.Status != 201 {
				t.Errorf("got %d, %v", a.Status, err)
			}
		}
	})
	all.Wait()
	// The payment with a pending refund is erased 60 days after that refund.
	one.Clock.Advance(keptAge)
	if _, err := two.DB.ErasePersonal(t.Context(), two.Clock.Now(), keptDays, impersonal); err != nil {
		t.Error(err)
	}
	if got := personalRows(t, one); got != 0 {
		t.Errorf("got %d rows with personal data", got)
	}
	if got := one.Number(t, "SELECT COUNT(*) FROM transactions WHERE amount_captured <> 100 OR amount_refund_pending <> 0"); got != 0 {
		t.Errorf("%d transactions have other amounts", got)
	}
	if got := one.Number(t, "SELECT SUM(amount_refunded) FROM transactions"); got != n*10+5 {
		t.Errorf("got %d refunded, want %d", got, n*10+5)
	}
}

// TestErasureAfterClockJumps runs erasures while the clock jumps a day ahead and back. No payment
// is erased more than a day early, and none is left at the end.
func TestErasureAfterClockJumps(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	s := coretest.Open(t)
	pass := func() {
		t.Helper()
		if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), keptDays, impersonal); err != nil {
			t.Fatal(err)
		}
	}
	MustPayPersonal(t, s, 2)
	s.Clock.Advance(keptDays*day - 2*day + time.Hour)
	for _, jump := range []time.Duration{day, -day, -day, day} {
		s.Clock.Advance(jump)
		pass()
		if got := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE erased_at > 0"); got != 0 {
			t.Errorf("a jump of %s: %d transactions were erased early", jump, got)
		}
	}
	// A payment at a time a day ahead, and then younger payments at the true time.
	s.Clock.Advance(day)
	a, err := s.Pay(t.Context(), s.Request("ahead"), 100, true)
	if err != nil || a.Status != 201 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	s.Clock.Advance(-day)
	for _, ahead := range []time.Duration{2 * day, -day, keptAge, day, -day, day} {
		s.Clock.Advance(ahead)
		pass()
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE erased_at = 0"); got != 0 {
		t.Errorf("got %d transactions that were never erased", got)
	}
	if got := personalRows(t, s); got != 0 {
		t.Errorf("got %d rows with personal data", got)
	}
}

// TestOpenPaymentIsErasedLater checks that payments that a step or a payer can still change are
// erased only after their end.
func TestOpenPaymentIsErasedLater(t *testing.T) {
	t.Parallel()
	for open, ended := range map[string]string{
		"operation = 'void', operation_id = 1":                                "operation = '', operation_id = 0",
		"status = 'requires_confirmation'":                                    "status = 'captured'",
		"status = 'unknown'":                                                  "status = 'captured'",
		"status = 'requires_action'":                                          "status = 'captured'",
		"status = 'pending_review'":                                           "status = 'captured'",
		"amount_refund_pending = 1":                                           "amount_refund_pending = 0",
		"amount_captured = amount_captured - 20, amount_capture_pending = 20": "amount_captured = amount_captured + 20, amount_capture_pending = 0",
	} {
		t.Run(open, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			MustPayPersonal(t, s, 1)
			s.Database.MustExec(t, "UPDATE transactions SET "+open)
			s.Clock.Advance(2 * keptAge)
			for range 2 {
				if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), keptDays, impersonal); err != nil {
					t.Fatal(err)
				}
				if got := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE details LIKE '%Erika%'"); got != 1 {
					t.Fatal("an open payment was erased")
				}
				s.Clock.Advance(2 * time.Hour)
			}
			s.Database.MustExec(t, "UPDATE transactions SET "+ended)
			if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), keptDays, impersonal); err != nil {
				t.Fatal(err)
			}
			if got := personalRows(t, s); got != 0 {
				t.Errorf("got %d rows with personal data", got)
			}
		})
	}
}

// TestStepsAfterErasure takes each step that an erased payment can still get. None records a client
// address.
func TestStepsAfterErasure(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		if st.makes || st.attempt > 0 { // a payment that waits for its confirmation is never erased
			continue
		}
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			txn := st.MustPrepare(t, s)
			s.Database.MustExec(t, "UPDATE transactions SET erased_at = 1, client_address = ''")
			s.Database.MustExec(t, "UPDATE captures SET client_address = ''")
			r := s.Request("step")
			key := s.Number(t, "SELECT MAX(id) FROM api_keys")
			r.ClientAddress, r.APIKey = "203.0.113.7", key
			if a, err := st.take(context.WithoutCancel(t.Context()), s, r, txn); err != nil || a.Status != st.success {
				t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
			}
			if got := s.Number(t, `SELECT (SELECT COUNT(*) FROM transactions WHERE client_address || confirm_client_address || void_client_address <> '')
				+ (SELECT COUNT(*) FROM captures WHERE client_address <> '') + (SELECT COUNT(*) FROM refunds WHERE client_address <> '')`); got != 0 {
				t.Errorf("%d rows have a client address", got)
			}
			if got := s.Number(t, `SELECT (SELECT COUNT(*) FROM transactions WHERE void_api_key_id = ? OR confirm_api_key_id = ?)
				+ (SELECT COUNT(*) FROM captures WHERE api_key_id = ?) + (SELECT COUNT(*) FROM refunds WHERE api_key_id = ?)`, key, key, key, key); got == 0 {
				t.Error("no row names the API key")
			}
		})
	}
}

// TestInactiveCustomersArePaged inserts more young customers than one statement reads, and then an
// inactive one. Each statement reads one page, and the pass deletes the inactive customer.
func TestInactiveCustomersArePaged(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	s.Clock.Advance(keptAge)
	now, first := s.Clock.Now(), s.IDs.Next()
	s.Database.MustExec(t, `INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
		SELECT ? + i, ?, 0, '{}', 1, ?, CASE WHEN i = 1100 THEN 1 ELSE ? END FROM n`,
		first, s.Tenant.Merchant, now.UnixMilli(), now.Add(keptAge).UnixMilli())
	s.Clock.Advance(keptAge)
	aged, next, err := s.DB.AgedCustomers(t.Context(), s.Tenant, now.Add(time.Hour), 0)
	if err != nil || len(aged) != 0 || next == 0 || next > first+1000 {
		t.Errorf("got %d customers, and %d to go on after, %v: want none and an id", len(aged), next-first, err)
	}
	if n, err := s.Engine.DeleteInactiveCustomers(t.Context(), 0); err != nil || n != 0 {
		t.Errorf("without a period: got %d deleted, %v", n, err)
	}
	due, err := s.DB.DueErasures(t.Context(), s.Clock.Now(), payment.Retention{Customers: keptDays})
	if err != nil || len(due) != 1 || due[0].Kind != "inactive_customers" || due[0].Rows != 1 {
		t.Errorf("got %+v, %v: want one inactive customer", due, err)
	}
	if n, err := s.Engine.DeleteInactiveCustomers(t.Context(), keptDays); err != nil || n != 1 {
		t.Errorf("got %d deleted, %v, want 1", n, err)
	}
	if got := s.Number(t, "SELECT id FROM customers WHERE deleted_at > 0"); got != first+1100 {
		t.Errorf("deleted number %d, want the last", got-first)
	}
}

// TestRecentRefundKeepsItsPayment checks that a payment is erased 60 days after its last refund,
// and not earlier.
func TestRecentRefundKeepsItsPayment(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	s := coretest.Open(t)
	MustPayPersonal(t, s, 1)
	s.Clock.Advance(30 * day)
	txn := s.Number(t, "SELECT id FROM transactions")
	if a, err := s.Engine.Refund(t.Context(), s.Request("late"), txn, 0, 10, []byte("{}")); err != nil || a.Status != 201 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	for after, want := range []int64{0, 0, 1} { // 61, 89 and 91 days after the payment
		s.Clock.Advance([]time.Duration{31 * day, 28 * day, 2 * day}[after])
		if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), keptDays, impersonal); err != nil {
			t.Fatal(err)
		}
		if got := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE erased_at > 0"); got != want {
			t.Errorf("pass %d: got %d erased payments, want %d", after, got, want)
		}
	}
}

// TestLateEventsFollowTheirPayment erases a payment that was changed days after its creation. Its
// events are erased with it, the young ones too, and its link to the customer goes.
func TestLateEventsFollowTheirPayment(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	s := coretest.Open(t)
	MustPayPersonal(t, s, 1)
	s.Database.MustExec(t, `UPDATE transactions SET details = '{"customer":"cus_1","billing":{"first_name":"Erika"}}',
		waiting_details = '{"customer":"cus_2"}', updated_at = created_at + ?`, (5 * day).Milliseconds())
	s.Database.MustExec(t, `INSERT INTO transaction_terms (merchant, is_live, kind, term, transaction_id)
		SELECT merchant_id, live, 1, 'cus_1', id FROM transactions UNION ALL SELECT merchant_id, live, 1, 'cus_2', id FROM transactions
		UNION ALL SELECT merchant_id, live, 1, 'cus_3', id + 1 FROM transactions`)
	late := id.At(s.Clock.Now().Add(5 * day))
	s.Database.MustExec(t, `INSERT INTO events (id, merchant_id, live, type, object_id, sequence, data, created_at)
		SELECT ?, merchant_id, live, 'transaction.captured', id, 9, '{"id":"x","billing":{"first_name":"Erika"}}', created_at FROM transactions`, late)
	s.Clock.Advance(61 * day)
	if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), keptDays, impersonal); err != nil {
		t.Fatal(err)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM transaction_terms WHERE kind = 1"); got != 1 {
		t.Errorf("got %d links to customers, want that of another payment", got)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%'"); got != 1 {
		t.Fatalf("got %d events with the name, want the young one before its pass", got)
	}
	if _, err := s.DB.ErasePersonalEvents(t.Context(), s.Clock.Now(), impersonal); err != nil {
		t.Fatal(err)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%'"); got != 0 {
		t.Errorf("got %d events with the name", got)
	}
}
