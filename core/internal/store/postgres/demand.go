package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/causeway-pay/causeway/shared/pgurl"
)

// demand refuses a database that would not keep what is answered.
func demand(ctx context.Context, pool *pgxpool.Pool) error {
	refusal, failed := pgurl.Fit(pool.QueryRow(ctx, pgurl.Question), "payments that were answered")
	switch {
	case failed != nil:
		return fmt.Errorf("store: %w", explain(came(failed)))
	case refusal != nil:
		return fmt.Errorf("store: %w", refusal)
	}
	return nil
}
