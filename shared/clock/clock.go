package clock

import "time"

// Clock returns the present time, always in UTC. Implementations are safe for concurrent use.
type Clock interface {
	Now() time.Time
}
