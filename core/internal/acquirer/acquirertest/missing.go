package acquirertest

import (
	"context"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/clock"
)

// missing is an acquirer.Missing of one process.
type missing struct {
	clock clock.Clock
	mu    sync.Mutex
	first map[string]time.Duration // guarded by mu: the first call by reference, on the monotonic clock
	found map[string]bool          // guarded by mu
}

// NewMissing returns an acquirer.Missing that counts by the monotonic reading of a clock.
func NewMissing(c clock.Clock) acquirer.Missing {
	return &missing{clock: c, first: map[string]time.Duration{}, found: map[string]bool{}}
}

// Missed implements acquirer.Missing.
func (m *missing) Missed(_ context.Context, reference string) (missing time.Duration, found bool, err error) {
	now := clock.MonotonicOf(m.clock)
	m.mu.Lock()
	defer m.mu.Unlock()
	first, known := m.first[reference]
	if !known {
		first = now
		m.first[reference] = first
	}
	return now - first, m.found[reference], nil
}

// Found implements acquirer.Missing.
func (m *missing) Found(_ context.Context, reference string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.found[reference] = true
	return nil
}
