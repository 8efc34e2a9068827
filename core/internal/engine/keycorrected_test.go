package engine_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestKeysOutliveACorrectionOfTheClock tests a key that a clock a day or a year behind wrote. It is
// kept for its lifetime after that clock was set right, while other rows end after an hour.
// Otherwise the retry of a payment would be a second payment.
func TestKeysOutliveACorrectionOfTheClock(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Duration{"a day": 24 * time.Hour, "a year": 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			pay := func(when string, replayed bool) {
				t.Helper()
				mustPass(t, s)
				a, err := s.Pay(t.Context(), s.Request("k"), 100, true)
				if err != nil || a.Status != 201 || a.Replayed != replayed {
					t.Errorf("%s: got %d %s, %v, replayed %t, want 201 and %t", when, a.Status, a.Body, err, a.Replayed, replayed)
				}
			}
			pay("at first", false)
			s.Clock.Step(by)
			pay("immediately", true)
			s.Clock.Advance(time.Hour)
			pay("when the clock is accepted", true)
			s.Clock.Advance(store.KeyLifetime - time.Hour - time.Second)
			pay("within the lifetime", true)
			s.Clock.Advance(time.Second)
			pay("after it", false)
		})
	}
}
