package providerb

import (
	"strconv"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestWaitsAreBounded: a process keeps a bounded number of waits. A dropped one begins again.
func TestWaitsAreBounded(t *testing.T) {
	t.Parallel()
	at := clock.NewFake(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	w := &waits{clock: at, settle: 24 * time.Hour, since: map[string]time.Duration{}}
	for n := range mostWaits + 9 {
		w.sent(strconv.Itoa(n), acquirer.ErrUnknown)
	}
	if got := len(w.since); got != mostWaits {
		t.Errorf("%d waits are kept, want %d", got, mostWaits)
	}
	if at.Advance(25 * time.Hour); w.over("another") {
		t.Error("an operation of another process has waited at its first call")
	}
	w.end("another")
	// Operations that ended long ago leave no room for others.
	at.Advance(25 * time.Hour)
	for n := range 100 {
		w.sent("late "+strconv.Itoa(n), acquirer.ErrUnknown)
	}
	if got := len(w.since); got != 100 {
		t.Errorf("%d waits are kept, want those of the last 100 operations", got)
	}
}
