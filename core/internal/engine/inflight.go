package engine

import (
	"sync"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// inFlight is the set of steps on which requests of this process work. Recovery and operators leave
// these steps alone, at any time of the clock. An open step of this process that is not in the set
// belongs to no request. It is safe for concurrent use.
type inFlight struct {
	mu    sync.Mutex
	steps map[stepKey]struct{} // guarded by mu
}

// has reports whether a request works on a step.
func (f *inFlight) has(s payment.StepID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.steps[keyOf(s)]
	return ok
}

// request returns the entry of a request that has no step yet. The request calls end when it
// returns.
func (f *inFlight) request() *flight { return &flight{set: f} }

// flight is the entry of one request.
type flight struct {
	set   *inFlight
	step  stepKey // guarded by set.mu; the zero value for none
	ended bool    // guarded by set.mu
}

// of adds the step of the request to the set. Call it before the intent can be committed, because
// recovery claims open steps outside the set. A command that runs twice calls it twice, and the
// last step counts. After end it does nothing, because a command may run after its caller has
// returned.
func (w *flight) of(s payment.StepID) {
	w.set.mu.Lock()
	defer w.set.mu.Unlock()
	if w.ended {
		return
	}
	delete(w.set.steps, w.step)
	w.step = keyOf(s)
	w.set.steps[w.step] = struct{}{}
}

// end removes the step of the request.
func (w *flight) end() {
	w.set.mu.Lock()
	defer w.set.mu.Unlock()
	delete(w.set.steps, w.step)
	w.ended = true
}

// stepKey names a step among the attempts.
type stepKey struct {
	kind           payment.StepKind
	object, number int64
}

func keyOf(s payment.StepID) stepKey {
	object, number := s.Object()
	return stepKey{s.Kind, object, number}
}
