package postgres

import (
	"context"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// Hold keeps a connection, whose lock goes with it however it ends.
func (e *engine) Hold(ctx context.Context, thing string) (func() error, error) {
	conn, err := e.background.Acquire(ctx)
	if err != nil {
		return nil, explain(fmt.Errorf("hold: %w", came(err)))
	}
	var got bool
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtextextended(current_schema() || $1::text, 0))", thing).Scan(&got)
	if err == nil && got {
		return func() error {
			defer conn.Release()
			return conn.Conn().Close(context.WithoutCancel(ctx)) // and with it the lock
		}, nil
	}
	conn.Release()
	if err != nil {
		return nil, explain(fmt.Errorf("hold: %w", came(err)))
	}
	return nil, store.ErrHeld
}

// Scrub implements store.Engine: TRUNCATE has removed the file of the deleted rows.
func (e *engine) Scrub(context.Context) error { return nil }
