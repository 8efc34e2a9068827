package providerb

import (
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/clock"
)

// mostWaits bounds the waits that are kept: about 20 MB.
const mostWaits = 200_000

// waits are the operations that the provider may still carry out. An operation that the provider
// does not find counts as without effect after settle. One reading of a wrong clock must not end
// that time, so it is also measured by the monotonic clock. It begins when the request was lost.
// For an operation of another process it begins when this one first misses it, so a restart makes
// it longer.
type waits struct {
	clock  clock.Clock
	settle time.Duration

	mu    sync.Mutex
	since map[string]time.Duration // guarded by mu: by reference, on the monotonic clock
	swept time.Duration            // guarded by mu: the last sweep, on the monotonic clock
}

// sent begins the wait of an operation if the error of its request is acquirer.ErrUnknown.
func (w *waits) sent(reference string, err error) {
	if !errors.Is(err, acquirer.ErrUnknown) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begin(reference)
}

// over reports whether an operation that the provider did not find has waited. If this process has
// not sent it, the first call begins its wait.
func (w *waits) over(reference string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	since, ok := w.since[reference]
	if !ok {
		w.begin(reference)
		return false
	}
	return clock.MonotonicOf(w.clock)-since >= w.settle
}

// end forgets the wait of an operation that the provider has.
func (w *waits) end(reference string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.since, reference)
}

// begin keeps a wait. If there are too many, it drops the waits that were over long ago, else any
// other one, which then begins again.
func (w *waits) begin(reference string) {
	now := clock.MonotonicOf(w.clock)
	if len(w.since) >= mostWaits && now-w.swept >= time.Minute {
		w.swept = now
		maps.DeleteFunc(w.since, func(_ string, since time.Duration) bool { return now-since > 2*w.settle })
	}
	if len(w.since) >= mostWaits {
		for other := range w.since {
			delete(w.since, other)
			break
		}
	}
	w.since[reference] = now
}
