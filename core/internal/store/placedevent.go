package store

import (
	"context"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// The place from which on, or up to which, events may be that an id bounds. A day more than ids say, for clocks.
const (
	fromPlace = `place >= COALESCE((SELECT place FROM events WHERE id < ? ORDER BY id DESC LIMIT 1), 0)`
	toPlace   = `place <= COALESCE((SELECT place FROM events WHERE id > ? ORDER BY id LIMIT 1), 9223372036854775807)`
	// cursorPlace is that of an event, or of the one before it where there is none of that id.
	cursorPlace = `COALESCE((SELECT place FROM events WHERE id <= ? ORDER BY id DESC LIMIT 1), 0)`
)

// placedEvents is Events by places.
func (db *DB) placedEvents(ctx context.Context, tenant payment.Tenant, f payment.EventFilter, p payment.Page) (payment.List[*payment.Event], error) {
	until, err := db.engine.EventsBefore(ctx, tenant)
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
