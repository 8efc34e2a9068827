package executor_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
)

// TestDeduplication_clockSetBack: v1's clock was set back. Date and the times of keys go on, and
// the times of new payments are behind them. A payment's duplicate is found by the time of its key.
func TestDeduplication_clockSetBack(t *testing.T) {
	t.Parallel()
	for _, back := range []time.Duration{10 * time.Minute, 9 * time.Hour, 24 * time.Hour} {
		for _, at := range []time.Time{noon, midnight.Add(-time.Minute), midnight.Add(2 * time.Minute)} {
			b := setupWindow(t, at)
			b.v1.setBack = back
			first := b.execute(t.Context(), 0, sale(120))
			b.clock.Advance(70 * time.Second)
			for proxy := range b.proxies {
				if again := b.execute(t.Context(), proxy, sale(120)); again != command.Repeated {
					t.Errorf("set back by %s at %s: got %s, then %s by proxy %d", back, at, first, again, proxy)
				}
			}
			if got := b.v1.paid(); got != 1 {
				t.Errorf("set back by %s at %s: got %d payments, want 1", back, at, got)
			}
			b.clock.Advance(time.Minute)
			if got := b.execute(t.Context(), 0, sale(120)); got != command.Done {
				t.Errorf("set back by %s at %s, after the window: got %s, want %s", back, at, got, command.Done)
			}
		}
	}
}
