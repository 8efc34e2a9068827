package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// Where several commands commit at the same time, of this process and of others, events are not seen in the order of their ids: one that is lower
// may come later, by as much as the machines' clocks differ. Who pages by the last id that he saw would miss it. So each event has a place, the
// number of its transaction, and is listed in the order of places once every transaction with a lower number that may have an event has ended: a
// command of ours. What others on the server leave open holds nothing back.

// Writer is how the connections of all who write events are named, or how their name begins. It is how a list knows whom to wait for.
const Writer = "causeway-core"

// ended gives the number below which every transaction of ours has ended, so that what is read from then on shows all their events. xmax is of the
// statement's own view, which comes before it looks at who runs: a transaction with a lower number had it by then, and is either found running, or over.
// Servers show the lower half of numbers there.
const ended = `(SELECT top - COALESCE(MAX(behind) FILTER (WHERE behind < 2147483648), 0)
	FROM (SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT) AS top) AS view
	LEFT JOIN LATERAL (SELECT MOD(MOD(top, 4294967296) - CAST(CAST(backend_xid AS TEXT) AS BIGINT) + 4294967296, 4294967296) AS behind
		FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND datname = current_database()
			AND application_name LIKE '` + Writer + `%') AS running ON TRUE GROUP BY top)`

// placing is how long a list waits for the commands that ran when it was asked for. What takes longer is listed later.
const placing = time.Second

// The place from which on, or up to which, events may be that an id bounds. A day more than ids say, for clocks.
const (
	fromPlace = `place >= COALESCE((SELECT place FROM events WHERE id < ? ORDER BY id DESC LIMIT 1), 0)`
	toPlace   = `place <= COALESCE((SELECT place FROM events WHERE id > ? ORDER BY id LIMIT 1), 9223372036854775807)`
	// cursorPlace is that of an event, or of the one before it where there is none of that id.
	cursorPlace = `COALESCE((SELECT place FROM events WHERE id <= ? ORDER BY id DESC LIMIT 1), 0)`
)

// placedEvents is Events by places.
func (db *DB) placedEvents(ctx context.Context, tenant payment.Tenant, f payment.EventFilter, p payment.Page) (payment.List[*payment.Event], error) {
	until, err := db.awaitPlaces(ctx, tenant)
	if err != nil {
		return payment.List[*payment.Event]{}, err
	}
	query := `SELECT ` + eventColumns + ` FROM events WHERE merchant_id = ? AND live = ? AND place < ?`
	args := []any{tenant.Merchant, tenant.Live, until}
	narrow := func(condition string, values ...any) {
		query += ` AND ` + condition
		args = append(args, values...)
	}
	if f.Type != "" {
		narrow(`type = ?`, f.Type)
	}
	if f.Object != 0 {
		narrow(fromPlace+` AND object_id = ? AND substr(type, 1, CAST(? AS INTEGER)) = ?`, f.Object-eventSlack(), f.Object, len(f.Kind)+1, f.Kind+".")
	}
	if !f.After.IsZero() {
		narrow(fromPlace+` AND created_at > ?`, id.At(f.After.Add(-clockStep)), toMillis(f.After))
	}
	if !f.Before.IsZero() {
		narrow(toPlace+` AND created_at < ?`, id.At(f.Before.Add(clockStep)), toMillis(f.Before))
	}
	order := ` ORDER BY place DESC, id DESC`
	switch {
	case p.Before != 0:
		narrow(`(place, id) > (`+cursorPlace+`, ?)`, p.Before, p.Before)
		order = ` ORDER BY place, id`
	case p.After != 0:
		narrow(`(place, id) < (`+cursorPlace+`, ?)`, p.After, p.After)
	}
	rows, err := collect(ctx, db, query+order+` LIMIT ?`, scanEvent, append(args, p.Limit+1)...)
	if err != nil {
		return payment.List[*payment.Event]{}, err
	}
	l := payment.List[*payment.Event]{Rows: rows, More: len(rows) > p.Limit}
	if l.More {
		l.Rows = rows[:p.Limit]
	}
	if p.Before != 0 {
		slices.Reverse(l.Rows)
	}
	return l, nil
}

// awaitPlaces waits until what the tenant can see is in its place, so that who was told of a change finds its event. It returns below which place all
// is to be seen by who reads afterwards.
func (db *DB) awaitPlaces(ctx context.Context, tenant payment.Tenant) (until int64, err error) {
	s, err := db.query(ctx, `SELECT COALESCE((SELECT place FROM events WHERE merchant_id = ? AND live = ? ORDER BY place DESC LIMIT 1), 0), `+ended)
	if err != nil {
		return 0, err
	}
	over := time.NewTimer(placing)
	defer over.Stop()
	newest, pause := int64(0), time.Millisecond
	for {
		var seen int64
		if err := s.Row(ctx, tenant.Merchant, tenant.Live).Scan(&seen, &until); err != nil {
			return 0, fmt.Errorf("read the places of events: %w", err)
		}
		if newest == 0 {
			newest = seen // of what comes later nobody was told when this was asked for
		}
		if until > newest {
			return until, nil
		}
		again := time.NewTimer(pause)
		pause = min(2*pause, 50*time.Millisecond)
		select {
		case <-again.C:
		case <-over.C:
			again.Stop()
			return until, nil
		case <-ctx.Done():
			again.Stop()
			return 0, ctx.Err()
		}
	}
}
