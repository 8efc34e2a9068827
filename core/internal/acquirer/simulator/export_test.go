package simulator

import (
	"context"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// OpenSmall is Open with a memory and a journal small enough to overflow in a test.
func OpenSmall(cfg Config, generation int, segment int64) (*Simulator, error) {
	return open(cfg, limits{generation: generation, segment: segment})
}

// Embedded returns the text of default.yaml.
func Embedded() []byte { return embedded }

// Known reports whether a request with this reference took effect, without a disturbance.
func (s *Simulator) Known(reference string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.memory.get(digest(reference).key())
	return ok && r.kind != none
}

// VoidUndisturbed voids an authorization without a disturbance.
func (s *Simulator) VoidUndisturbed(ctx context.Context, reference, authorization string) {
	if _, err := s.follow(ctx, void, acquirer.Follow{Reference: reference, Original: acquirer.Sent{Reference: authorization}, Amount: 1}, false); err != nil {
		panic(err)
	}
}
