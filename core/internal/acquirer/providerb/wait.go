package providerb

import (
	"errors"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/clock"
)

const (
	// wrongClock is how long a wrong clock may last before it is corrected (clock.Guard).
	wrongClock = time.Hour
	// mostWaits bounds the waits that are kept.
	mostWaits = 10_000
)

// waits are the operations that the provider may still carry out. An operation that the provider
// does not find counts as without effect after a time. One reading of a wrong clock must not end
// that time, so it is also measured by the monotonic clock:
//
//   - After its request was lost in this process, an operation waits for the whole time.
//   - Another process has measured a part of the time. So an operation of another process waits for
//     wrongClock since this process did not find it.
type waits struct {
	clock  clock.Clock
	settle time.Duration

	mu sync.Mutex
	of map[string]wait // guarded by mu: by reference
}

// wait is how long an operation must wait, and since when by the monotonic clock.
type wait struct{ since, least time.Duration }

// sent begins the wait of an operation if the error of its request is acquirer.ErrUnknown.
func (w *waits) sent(reference string, err error) {
	if !errors.Is(err, acquirer.ErrUnknown) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begin(reference, w.settle)
}

// over reports whether an operation that the provider did not find has waited. If this process has
// not sent it, the first call begins its wait.
func (w *waits) over(reference string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	found, ok := w.of[reference]
	if !ok {
		w.begin(reference, min(w.settle, wrongClock))
		return false
	}
	return clock.MonotonicOf(w.clock)-found.since >= found.least
}

// begin keeps a wait. If there are too many, it drops any other one, which then begins again.
func (w *waits) begin(reference string, least time.Duration) {
	if len(w.of) >= mostWaits {
		for other := range w.of {
			delete(w.of, other)
			break
		}
	}
	w.of[reference] = wait{clock.MonotonicOf(w.clock), least}
}
