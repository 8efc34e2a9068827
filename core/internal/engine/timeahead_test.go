package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// inTimeAhead runs change while the clock is ahead. The clock is corrected after ten minutes, or
// after two hours if core should accept it.
func inTimeAhead(t *testing.T, s *coretest.Service, ahead time.Duration, accepted bool, change func()) {
	t.Helper()
	held := 10 * time.Minute
	if accepted {
		held = 2 * time.Hour
	}
	s.DB.ClockAhead()
	s.Clock.Step(ahead)
	s.DB.ClockAhead()
	if accepted {
		s.Clock.Advance(time.Hour)
		s.DB.ClockAhead()
	}
	change()
	s.Clock.Advance(held)
	s.DB.ClockAhead()
	s.Clock.Step(-ahead)
	s.DB.ClockAhead()
}

// timeAhead has how far the clock is ahead, and whether core comes to accept it.
type timeAhead struct {
	name     string
	ahead    time.Duration
	accepted bool
}

func timesAhead() []timeAhead {
	const month, year = 30 * 24 * time.Hour, 365 * 24 * time.Hour
	return []timeAhead{
		{"a month", month, false}, {"a month, accepted", month, true}, {"a year", year, false}, {"a year, accepted", year, true},
	}
}

// TestTokensOfATimeAheadAreWiped: a token of a time ahead keeps its card number for at most an hour
// after the clock is set right. Its row is removed at the same time as the row of a normal token.
func TestTokensOfATimeAheadAreWiped(t *testing.T) {
	t.Parallel()
	for _, c := range timesAhead() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			inTimeAhead(t, s, c.ahead, c.accepted, func() {
				MustToken(t, s, cvc)
				if c.accepted { // its number is wiped while the clock is ahead
					s.Clock.Advance(payment.TokenLifetime)
					mustSweep(t, s)
					MustToken(t, s, cvc)
				}
			})
			if c.accepted {
				mustSweep(t, s)
				s.Clock.Advance(payment.TokenLifetime)
			}
			today := MustToken(t, s, cvc)
			mustSweep(t, s)
			wantNumber(t, s, "tokens with a number", "SELECT COUNT(*) FROM tokens WHERE number IS NOT NULL", 1)
			wantNumber(t, s, "security codes", "SELECT COUNT(*) FROM security_codes", 1)
			if found, err := s.Engine.Stored(t.Context(), s.Tenant, today); err != nil || found.Secrets.Number.IsZero() {
				t.Errorf("the token of today: got %v, want its number", err)
			}
			s.Clock.Advance(payment.TokenLifetime + store.KeyLifetime)
			mustSweep(t, s)
			mustSweep(t, s)
			wantNumber(t, s, "tokens", "SELECT COUNT(*) FROM tokens", 0)
		})
	}
}

// mustSweep does what core does with tokens each minute.
func mustSweep(t *testing.T, s *coretest.Service) {
	t.Helper()
	if err := s.Engine.DestroyCodeKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Engine.SweepTokens(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestDeletionsOfATimeAheadAreErased: a customer was deleted at a time ahead. The next pass erases
// the customer's other events, and a pass after 60 days erases its payment. Then no row waits any
// more.
func TestDeletionsOfATimeAheadAreErased(t *testing.T) {
	t.Parallel()
	for _, c := range timesAhead() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			customer := mustChangeOften(t, s, 350)
			mustPayOf(t, s, customer)
			pass := func(after time.Duration) {
				t.Helper()
				s.Clock.Advance(after)
				_, err := s.DB.EraseCustomerEvents(t.Context(), s.Clock.Now(), api.Erased)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), 0, impersonal); err != nil {
					t.Fatal(err)
				}
			}
			end := func() {}
			inTimeAhead(t, s, c.ahead, c.accepted, func() {
				if a, err := s.Engine.DeleteCustomer(t.Context(), s.Request(""), customer, nil); err != nil || a.Status != 200 {
					t.Fatalf("delete: %d, %v", a.Status, err)
				}
				if c.accepted { // a pass while the clock is ahead postpones both
					end = s.MustRefuse(t, "UPDATE", "events", fmt.Sprintf("NEW.object_id = %d", customer))
					pass(0)
				}
			})
			end()
			s.Clock.Advance(2 * time.Hour)
			wantDueErasures(t, s, "deleted_customers")
			pass(0)
			wantNumber(t, s, "events with personal data",
				"SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%' AND type LIKE 'customer.%'", 0)
			wantNumber(t, s, "deleted customers that are looked at within three days",
				fmt.Sprintf("SELECT COUNT(*) FROM customer_erasures WHERE due_at BETWEEN %d AND %d", s.Clock.Now().UnixMilli()+1,
					s.Clock.Now().Add(72*time.Hour).UnixMilli()), 1)
			pass(payment.LeastKeepPersonal)
			wantNumber(t, s, "payments with personal data", "SELECT COUNT(*) FROM transactions WHERE details LIKE '%Erika%'", 0)
			pass(24 * time.Hour)
			pass(24 * time.Hour) // a deletion a year ahead was corrected two passes ago
			wantNumber(t, s, "deleted customers that wait", "SELECT COUNT(*) FROM customer_erasures", 0)
		})
	}
}

// TestPaymentOfATimeAheadOfADeletedCustomer: the deletion waits until the payment of a time ahead
// can be erased.
func TestPaymentOfATimeAheadOfADeletedCustomer(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	const ahead = 90 * 24 * time.Hour
	customer := mustChangeOften(t, s, 1)
	inTimeAhead(t, s, ahead, false, func() { mustPayOf(t, s, customer) })
	if a, err := s.Engine.DeleteCustomer(t.Context(), s.Request(""), customer, nil); err != nil || a.Status != 200 {
		t.Fatalf("delete: %d, %v", a.Status, err)
	}
	for _, after := range []time.Duration{30 * 24 * time.Hour, ahead, payment.LeastKeepPersonal} {
		s.Clock.Advance(after)
		if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), 0, impersonal); err != nil {
			t.Fatal(err)
		}
	}
	wantNumber(t, s, "payments with personal data", "SELECT COUNT(*) FROM transactions WHERE details LIKE '%Erika%'", 0)
}

// TestDelayedErasuresOfATimeAhead: some rows could not be erased while the clock was ahead. Once it
// is right, these rows and the captures and refunds after them are due, and are erased. So are the
// events of the erased objects. No row stays in the list.
func TestDelayedErasuresOfATimeAhead(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	mustHavePersonal(t, s)
	mustRefundOften(t, s, 350)
	end := func() {}
	inTimeAhead(t, s, 365*24*time.Hour, true, func() {
		first := s.Number(t, "SELECT MIN(id) FROM transactions")
		endPayment := s.MustRefuse(t, "UPDATE", "transactions", fmt.Sprintf("NEW.id = %d", first))
		endEvent := s.MustRefuse(t, "UPDATE", "events", fmt.Sprintf("NEW.object_id = %d", first))
		endRefund := s.MustRefuse(t, "UPDATE", "refunds", fmt.Sprintf("NEW.id = %d", s.Number(t, "SELECT MAX(id) FROM refunds")))
		mustErase(t, s)
		end = func() { endPayment(); endEvent(); endRefund() }
	})
	end()
	s.Clock.Advance(keptAge)
	wantDueErasures(t, s, "delayed_transactions", "delayed_events", "delayed_payment_parts")
	mustErase(t, s)
	if got := personalIn(t, s); got != 0 {
		t.Errorf("rows with personal data: got %d, want 0", got)
	}
	wantNumber(t, s, "delayed erasures", "SELECT COUNT(*) FROM delayed_erasures", 0)
	s.Clock.Advance(2 * time.Hour)
	if _, err := s.DB.ErasePersonalEvents(t.Context(), s.Clock.Now(), impersonal); err != nil {
		t.Fatal(err)
	}
	wantNumber(t, s, "erased objects", "SELECT COUNT(*) FROM erased_objects", 0)
}

// wantDueErasures checks the kinds of rows that are due for erasure now.
func wantDueErasures(t *testing.T, s *coretest.Service, kinds ...string) {
	t.Helper()
	due, err := s.DB.DueErasures(t.Context(), s.Clock.Now(), payment.Retention{Personal: keptDays})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		if !slices.ContainsFunc(due, func(d store.DueErasure) bool { return d.Kind == kind }) {
			t.Errorf("due erasures: got %v, want %s among them", due, kind)
		}
	}
}

// mustPayOf makes a payment of a customer with personal data.
func mustPayOf(t *testing.T, s *coretest.Service, customer int64) {
	t.Helper()
	MustPayPersonal(t, s, 1)
	name := id.Format(id.Customer, customer)
	s.MustExec(t, "UPDATE transactions SET details = ?", `{"customer":"`+name+`","billing":{"first_name":"Erika"}}`)
	s.MustExec(t, `INSERT INTO transaction_terms (merchant, is_live, kind, term, transaction_id)
		SELECT merchant_id, live, 1, ?, id FROM transactions`, name)
}

// TestCapturesOfATimeAheadSettle: a capture at a time ahead settles after the day of the
// correction, within nine days if core accepted the clock. Until then its payment can be voided.
func TestCapturesOfATimeAheadSettle(t *testing.T) {
	t.Parallel()
	for _, c := range timesAhead() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			today := mustPay(t, s, true)
			var taken, part int64
			inTimeAhead(t, s, c.ahead, c.accepted, func() {
				taken, part = mustPay(t, s, true), mustPay(t, s, false)
				if a, err := s.Engine.Capture(t.Context(), s.Request(""), part, 40, false, nil); err != nil || a.Status != 201 {
					t.Fatalf("capture: %d, %v", a.Status, err)
				}
			})
			mustSettle(t, s, 0)
			mustSettle(t, s, 0)
			for range 9 {
				s.Clock.Advance(24 * time.Hour)
				mustPass(t, s)
				if _, err := s.Engine.SettleDue(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, txn := range []int64{today, taken, part} {
				if got := mustTransaction(t, s, txn).Settlement(); got != payment.SettlementSettled {
					t.Errorf("transaction %d: got %s, want it settled", txn, got)
				}
			}
			wantSettledBooks(t, s)
		})
	}
}

// TestCapturesOfATimeAheadHoldNoWriter: no commit corrects many captures.
func TestCapturesOfATimeAheadHoldNoWriter(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	const captures = 120
	inTimeAhead(t, s, 365*24*time.Hour, false, func() {
		for range captures {
			mustPay(t, s, true)
		}
	})
	s.DB.Observe(func(store.Batch) { s.Clock.Advance(time.Millisecond) }, nil) // each commit has its own time
	mustSettle(t, s, 0)
	wantNumber(t, s, "corrected captures", "SELECT COUNT(*) FROM captures WHERE captured_at > 0", captures)
	most := s.Number(t, "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM captures GROUP BY captured_at) AS commits")
	if most > 100 {
		t.Errorf("captures in one commit: got %d, want at most 100", most)
	}
}

// TestWaitsOfATimeAheadEnd: a payment at a time ahead can be confirmed for one day after the
// correction, or for eight days if core accepted the clock.
func TestWaitsOfATimeAheadEnd(t *testing.T) {
	t.Parallel()
	for _, c := range timesAhead() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			waits := func(want int64) {
				t.Helper()
				if _, err := s.Engine.ExpireDue(t.Context()); err != nil {
					t.Fatal(err)
				}
				wantNumber(t, s, "waits", "SELECT COUNT(*) FROM transactions WHERE status = 'requires_confirmation'", want)
			}
			inTimeAhead(t, s, c.ahead, c.accepted, func() {
				if a, err := s.Prepare(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
					t.Fatalf("prepare: %d, %v", a.Status, err)
				}
			})
			waits(1)
			if !c.accepted {
				s.Clock.Advance(payment.ConfirmWithin - time.Second)
				mustPass(t, s)
				waits(1)
				s.Clock.Advance(time.Second)
				waits(0)
				return
			}
			for range 9 {
				s.Clock.Advance(24 * time.Hour)
				mustPass(t, s)
				if _, err := s.Engine.ExpireDue(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			waits(0)
		})
	}
}

// TestNoTimeIsCorrectedByAWrongClock: a clock is set back by mistake, and the test clock of a
// merchant moves. Neither changes when a capture was taken or how long a payment can be confirmed.
func TestNoTimeIsCorrectedByAWrongClock(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(s *coretest.Service, before bool){
		"set back": func(s *coretest.Service, before bool) {
			if !before {
				s.Clock.Step(-30 * 24 * time.Hour)
			}
		},
		"a test clock": func(s *coretest.Service, before bool) {
			if before {
				s.MustExec(t, "INSERT INTO test_clocks (merchant_id, offset_ms) VALUES (?, ?)", s.Tenant.Merchant, 30*24*3600_000)
			} else {
				s.Clock.Advance(time.Hour)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			mustPass(t, s)
			set(s, true)
			mustPay(t, s, true)
			if a, err := s.Prepare(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
				t.Fatalf("prepare: %d, %v", a.Status, err)
			}
			const times = `SELECT (SELECT SUM(expires_at) FROM transactions) + (SELECT SUM(captured_at) FROM captures)`
			before := s.Number(t, times)
			set(s, false)
			mustPass(t, s)
			if _, err := s.Engine.ExpireDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Engine.SettleDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantNumber(t, s, "times", times, before)
		})
	}
}
