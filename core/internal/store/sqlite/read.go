package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// connections returns how many connections a purpose has.
func connections(p store.Purpose) int {
	if p == store.Background || p == store.Essential {
		return 2
	}
	return 4
}

// pool is the read connections of a purpose, and their statements.
type pool struct {
	*sql.DB
	purpose   store.Purpose
	stmts     sync.Map   // *store.Statement → statement
	preparing sync.Mutex // held while a statement is added to stmts
}

func newPool(p store.Purpose, db *sql.DB) *pool {
	db.SetMaxOpenConns(connections(p))
	db.SetMaxIdleConns(connections(p))
	return &pool{DB: db, purpose: p}
}

// pools are the read pools of a file.
type pools map[store.Purpose]*pool

// Close closes all statements and then the connections.
func (p pools) Close() error {
	var errs []error
	for _, one := range p {
		one.stmts.Range(func(_, s any) bool {
			errs = append(errs, s.(statement).prepared.Close())
			return true
		})
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// Readers implements store.Engine.
func (e *engine) Readers(p store.Purpose) int { return connections(p) }

// Row implements store.Engine. The read runs when the row is scanned.
func (e *engine) Row(ctx context.Context, p store.Purpose, s *store.Statement, args ...any) store.Scanner {
	return lazyRow{e, ctx, p, s, args}
}

// Each implements store.Engine.
func (e *engine) Each(
	ctx context.Context, p store.Purpose, s *store.Statement, begin func(), scan func(store.Scanner) error, args ...any,
) error {
	return e.timed(ctx, p, s, func(ctx context.Context, prepared statement) error {
		begin()
		return prepared.each(ctx, scan, args...)
	})
}

// lazyRow is a row that is read when it is scanned.
type lazyRow struct {
	e       *engine
	ctx     context.Context //nolint:containedctx // the caller's, which scans immediately
	purpose store.Purpose
	s       *store.Statement
	args    []any
}

// Scan implements store.Scanner.
func (r lazyRow) Scan(dest ...any) error {
	return r.e.timed(r.ctx, r.purpose, r.s, func(ctx context.Context, prepared statement) error {
		return prepared.row(ctx, r.args...).Scan(dest...)
	})
}

// timed runs a read on a connection of its purpose. A read that is interrupted because of the
// write-ahead log runs again.
func (e *engine) timed(
	ctx context.Context, p store.Purpose, s *store.Statement, run func(context.Context, statement) error,
) error {
	once := func(ctx context.Context) error { return e.once(ctx, p, s, run) }
	if held := e.log.readsOf(ctx, p); held != nil {
		return held.do(ctx, once)
	}
	return once(ctx)
}

// once runs a read one time. SQLite interrupts it when the time of its purpose is over.
func (e *engine) once(
	ctx context.Context, p store.Purpose, s *store.Statement, run func(context.Context, statement) error,
) error {
	limited := ctx
	if d, ok := p.Time(ctx); ok {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	prepared, err := e.prepared(limited, p, s)
	if err == nil {
		err = run(limited, prepared)
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return p.Expired()
	}
	return err
}

// prepared returns the prepared statement of a read.
func (e *engine) prepared(ctx context.Context, p store.Purpose, s *store.Statement) (statement, error) {
	on := e.read[p]
	if found, ok := on.stmts.Load(s); ok {
		return found.(statement), nil
	}
	on.preparing.Lock()
	defer on.preparing.Unlock()
	if found, ok := on.stmts.Load(s); ok {
		return found.(statement), nil
	}
	text, err := textOf(e.sql, s)
	if err != nil {
		return statement{}, err
	}
	prepared, err := on.PrepareContext(ctx, text)
	if err != nil {
		return statement{}, fmt.Errorf("prepare: %w", explained(err))
	}
	on.stmts.Store(s, statement{prepared})
	return statement{prepared}, nil
}
