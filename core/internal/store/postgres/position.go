package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// Commands of this process and of others commit at the same time. So events do not become visible in
// the order of their ids: one with a lower id may follow, by as much as the machines' clocks differ. A
// client that pages by the last id it has read would miss it. So each event has a commit position, the
// number of its transaction. Lists are in the order of positions, up to the low-water mark: the number
// below which every transaction of ours has ended. Other programs' transactions on the server hold no
// event back.

// writer begins the application_name of all connections that write events. EventsBefore finds them by
// it.
const writer = "causeway-core"

// lowWaterMark is an expression for the low-water mark. xmax is of the statement's own snapshot, which
// precedes its look at the running transactions: a transaction with a lower number had it by then. It
// is found running, or it has ended. pg_stat_activity shows the lower half of the numbers.
const lowWaterMark = `(SELECT top - COALESCE(MAX(behind) FILTER (WHERE behind < 2147483648), 0)
	FROM (SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT) AS top) AS view
	LEFT JOIN LATERAL (SELECT MOD(MOD(top, 4294967296) - CAST(CAST(backend_xid AS TEXT) AS BIGINT) + 4294967296, 4294967296)
			AS behind
		FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND datname = current_database()
			AND application_name LIKE '` + writer + `%') AS running ON TRUE GROUP BY top)`

// eventPatience is how long EventsBefore waits for commands that ran when it was called. The events of
// a slower command are listed later.
const eventPatience = time.Second

// EventsBefore implements store.Engine. It waits until the events that the tenant can see are below the
// low-water mark, so that a client which was told of a change finds its event.
func (e *engine) EventsBefore(ctx context.Context, tenant payment.Tenant) (before int64, err error) {
	positions := query{e, `SELECT COALESCE((SELECT place FROM events
		WHERE merchant_id = $1 AND live = $2 ORDER BY place DESC LIMIT 1), 0), ` + lowWaterMark}
	over := time.NewTimer(eventPatience)
	defer over.Stop()
	newest, pause := int64(0), time.Millisecond
	for {
		var seen int64
		if err := positions.row(ctx, tenant.Merchant, tenant.Live).Scan(&seen, &before); err != nil {
			return 0, fmt.Errorf("read the commit positions of events: %w", err)
		}
		if newest == 0 {
			newest = seen // no client was told of a later event before this call
		}
		if before > newest {
			return before, nil
		}
		again := time.NewTimer(pause)
		pause = min(2*pause, 50*time.Millisecond)
		select {
		case <-again.C:
		case <-over.C:
			again.Stop()
			return before, nil
		case <-ctx.Done():
			again.Stop()
			return 0, ctx.Err()
		}
	}
}

// LowWaterMark implements store.Engine.
func (e *engine) LowWaterMark(ctx context.Context) (oldest, next int64, err error) {
	marks := query{e, `SELECT ` + lowWaterMark + `,
		(SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT))`}
	if err := marks.row(ctx).Scan(&oldest, &next); err != nil {
		return 0, 0, fmt.Errorf("read the low-water mark of events: %w", err)
	}
	return oldest, next, nil
}

// resetPositions resets the commit positions of a dump that was restored on another server. The
// numbers of its transactions may still be to come here, and the events would be listed only then.
// With position 0 they are listed by their ids, before all later events.
func resetPositions(ctx context.Context, pool *pgxpool.Pool) error {
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
		return fmt.Errorf("reset the commit positions of events: %w", err)
	}
	return nil
}
