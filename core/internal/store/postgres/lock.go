package postgres

import (
	"context"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// Hold implements store.Engine. It holds an advisory lock on a separate connection. The server
// releases the lock when the connection ends, also if this process dies.
func (e *engine) Hold(ctx context.Context, thing string) (func() error, error) {
	conn, err := e.background.Acquire(ctx)
	if err != nil {
		return nil, explain(fmt.Errorf("hold: %w", asFault(err)))
	}
	var got bool
	const text = "SELECT pg_try_advisory_lock(hashtextextended(current_schema() || $1::text, 0))"
	err = conn.QueryRow(ctx, text, thing).Scan(&got)
	if err == nil && got {
		return func() error {
			defer conn.Release()
			return conn.Conn().Close(context.WithoutCancel(ctx)) // releases the lock
		}, nil
	}
	conn.Release()
	if err != nil {
		return nil, explain(fmt.Errorf("hold: %w", asFault(err)))
	}
	return nil, store.ErrHeld
}

// Scrub implements store.Engine: TRUNCATE has removed the file of the deleted rows.
func (e *engine) Scrub(context.Context) error { return nil }
