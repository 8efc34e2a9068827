package trust

import "context"

// Replan is the periodic update of the planned rotation.
func (s *Publisher) Replan(ctx context.Context) error { return s.replan(ctx) }

// RetryPolicy is the periodic retry of the policy's publication.
func (s *Publisher) RetryPolicy(ctx context.Context) { s.retryPolicy(ctx) }
