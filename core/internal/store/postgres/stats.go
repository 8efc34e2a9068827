package postgres

import (
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// counters count commands that ran again or failed.
type counters struct {
	deadlock, serialization, changed, unavailable atomic.Int64
}

// retried counts a command or a batch that was rolled back and runs again.
func (c *counters) retried(err error) {
	var e *pgconn.PgError
	switch {
	case errors.As(err, &e) && e.Code == deadlockDetected:
		c.deadlock.Add(1)
	case errors.Is(err, store.ErrChanged):
		c.changed.Add(1)
	default:
		c.serialization.Add(1)
	}
}

// failed counts commands that ended with an error.
func (c *counters) failed(err error, commands int) {
	if errors.Is(err, store.ErrUnavailable) {
		c.unavailable.Add(int64(commands))
	}
}

// Stats implements store.Engine.
func (e *engine) Stats() store.Stats {
	c := &e.stats
	pools := []store.Pool{
		poolOf("write", e.write), poolOf("payments", e.batch), poolOf("background_write", e.background),
		poolOf("member", e.member),
	}
	for _, p := range store.Purposes() {
		pools = append(pools, poolOf(p.String(), e.read[p].pool))
	}
	return store.Stats{
		Pools: pools,
		RolledBack: map[string]int64{
			"deadlock": c.deadlock.Load(), "serialization": c.serialization.Load(), "changed": c.changed.Load(),
		},
		Unavailable: c.unavailable.Load(),
	}
}

func poolOf(name string, of *pgxpool.Pool) store.Pool {
	s := of.Stat()
	return store.Pool{
		Name: name, InUse: int(s.AcquiredConns()), Idle: int(s.IdleConns()), Max: int(s.MaxConns()),
		Waited: s.EmptyAcquireCount() + s.CanceledAcquireCount(), Waiting: s.EmptyAcquireWaitTime(),
	}
}
