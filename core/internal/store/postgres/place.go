package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// place puts the events of a dump in their place that was restored on another server: the numbers of its transactions may still be to come here,
// and the events would be listed only then. They are listed by their ids then, before all that follow.
func place(ctx context.Context, pool *pgxpool.Pool) error {
	var foreign bool
	err := pool.QueryRow(ctx, `SELECT COALESCE(MAX(place), 0) >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
		FROM (SELECT place FROM events ORDER BY id DESC LIMIT 1000) AS last`).Scan(&foreign)
	if err == nil && foreign {
		err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE events SET place = 0 WHERE place > 0")
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("place events: %w", err)
	}
	return nil
}
