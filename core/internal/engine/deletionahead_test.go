package engine_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// TestADeletionLastsADay: a customer is deleted while the clock steps. Its deletion is kept for a
// day, in which a payment that was under way can add a transaction.
func TestADeletionLastsADay(t *testing.T) {
	t.Parallel()
	const step = 10 * 24 * time.Hour
	for name, c := range map[string]struct{ before, after time.Duration }{
		"after a step ahead": {before: step},
		"before one":         {after: step},
		"before a step back": {after: -step},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			customer := mustChangeOften(t, s, 1)
			pass := func(after time.Duration) {
				t.Helper()
				s.Clock.Advance(after)
				s.DB.ClockAhead()
				if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), 0, impersonal); err != nil {
					t.Fatal(err)
				}
			}
			s.DB.ClockAhead()
			s.Clock.Step(c.before)
			pass(10 * time.Minute)
			if a, err := s.Engine.DeleteCustomer(t.Context(), s.Request(""), customer, nil); err != nil || a.Status != 200 {
				t.Fatalf("delete: %d, %v", a.Status, err)
			}
			deleted := s.Number(t, "SELECT deleted_at FROM customer_erasures")
			s.Clock.Step(c.after)
			pass(time.Minute)
			wantNumber(t, s, "the time of the deletion", "SELECT deleted_at FROM customer_erasures", deleted)
			if c.after < 0 { // the clock was set back by mistake, and is corrected
				s.Clock.Step(-c.after)
			}
			for range 22 {
				pass(time.Hour)
			}
			wantNumber(t, s, "deletions within a day", "SELECT COUNT(*) FROM customer_erasures", 1)
			for range 10 {
				pass(24 * time.Hour)
			}
			wantNumber(t, s, "deletions ten days later", "SELECT COUNT(*) FROM customer_erasures", 0)
		})
	}
}
