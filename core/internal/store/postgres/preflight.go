package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/pgurl"
)

// lost names the data that a server with unsafe settings loses, for errors.
const lost = "acknowledged payments"

// preflight makes the first connection, which checks the settings of the server. The error names an
// unsafe setting.
func (e *engine) preflight(ctx context.Context) error {
	conn, err := e.write.Acquire(ctx)
	if err == nil {
		conn.Release()
		return nil
	}
	var unfit *pgurl.UnfitError
	if errors.As(err, &unfit) {
		return fmt.Errorf("store: %w", unfit)
	}
	return fmt.Errorf("store: connect: %w", explain(asFault(err)))
}

// Verify implements store.Engine. The driver checks the settings of each new connection only. A
// reload of the server's configuration can later turn fsync or full_page_writes off for all
// connections. Commands then return an error until the setting is on again.
func (e *engine) Verify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, e.patience)
	defer cancel()
	err := pgurl.Check(func(text string) pgurl.Row { return e.member.QueryRow(ctx, text) }, lost)
	var unfit *pgurl.UnfitError
	switch {
	case err == nil:
		e.unfit.Store(nil)
		return nil
	case errors.As(err, &unfit):
		e.unfit.Store(unfit)
		return fmt.Errorf("%w: %w", store.ErrUnavailable, unfit)
	}
	return explain(asFault(err))
}
