package postgres

import (
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// pressure counts what went wrong with commands.
type pressure struct {
	deadlock, serialization, changed, unavailable atomic.Int64
}

// again counts a command that is run again.
func (p *pressure) again(err error) {
	var e *pgconn.PgError
	switch {
	case errors.As(err, &e) && e.Code == deadlockDetected:
		p.deadlock.Add(1)
	case errors.Is(err, store.ErrChanged):
		p.changed.Add(1)
	default:
		p.serialization.Add(1)
	}
}

// failed counts a command that ended with an error.
func (p *pressure) failed(err error) {
	if errors.Is(err, store.ErrUnavailable) {
		p.unavailable.Add(1)
	}
}

// Pressure says how the server fares.
func (e *engine) Pressure() store.Pressure {
	p := &e.pressure
	return store.Pressure{
		Pools:       []store.Pool{poolOf("write", e.write), poolOf("read", e.read)},
		TakenBack:   map[string]int64{"deadlock": p.deadlock.Load(), "serialization": p.serialization.Load(), "changed": p.changed.Load()},
		Unavailable: p.unavailable.Load(),
	}
}

func poolOf(name string, of *pgxpool.Pool) store.Pool {
	s := of.Stat()
	return store.Pool{
		Name: name, InUse: int(s.AcquiredConns()), Idle: int(s.IdleConns()), Most: int(s.MaxConns()),
		Waited: s.EmptyAcquireCount() + s.CanceledAcquireCount(), Waiting: s.EmptyAcquireWaitTime(),
	}
}
