package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/pgurl"
)

// lost is the data that a server loses whose settings are refused.
const lost = "acknowledged payments"

// preflight connects for the first time. Its error names the setting if the server was refused for
// one.
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
	return fmt.Errorf("store: connect: %w", explain(came(err)))
}

// Verify implements store.Engine. New connections are verified as they are made. Those that live
// are not, and a reload of the server's configuration can turn fsync or full_page_writes off under
// them. Commands are refused from then on, until the setting is back.
func (e *engine) Verify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, e.patience)
	defer cancel()
	err := pgurl.Check(func(text string) pgurl.Row { return e.read[store.ByID].pool.QueryRow(ctx, text) }, lost)
	var unfit *pgurl.UnfitError
	switch {
	case err == nil:
		e.unfit.Store(nil)
		return nil
	case errors.As(err, &unfit):
		e.unfit.Store(unfit)
		return fmt.Errorf("%w: %w", store.ErrUnavailable, unfit)
	}
	return explain(came(err))
}
