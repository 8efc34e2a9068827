package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// clockStep is how far the clock may have been set back without a list by time or object missing events.
const clockStep = 24 * time.Hour

const eventColumns = `id, merchant_id, live, type, object_id, sequence, data, created_at`

// InsertEvent writes e, and a delivery to each endpoint of the tenant that wants it. e.CreatedAt is filled in.
func (tx *Tx) InsertEvent(e *payment.Event) error {
	e.CreatedAt = tx.Now
	text := `INSERT INTO events (` + eventColumns + `) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`
	args := []any{e.ID, e.Tenant.Merchant, e.Tenant.Live, e.Type, e.Object, e.Sequence, string(e.Data), toMillis(tx.Now)}
	if lock := tx.s.Dialect().ShareLock; lock != "" {
		text = `INSERT INTO events (` + eventColumns + `, place) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ` + tx.s.Dialect().Number + ` FROM (SELECT ` +
			lock + `) AS held`
		args = append(args, endpointsOf(e.Tenant))
	}
	if err := tx.insert(text, args...); err != nil {
		return err
	}
	return tx.deliver(e)
}

// endpointsOf is what a command locks that changes a tenant's endpoints; one that makes an event shares it. So whoever has been told that there is
// an endpoint finds the deliveries to it of every event from then on.
func endpointsOf(t payment.Tenant) string { return "endpoints" + strconv.FormatInt(t.Merchant, 10) }

// Event reads one event of the tenant, else ErrNotFound.
func (db *DB) Event(ctx context.Context, tenant payment.Tenant, n int64) (*payment.Event, error) {
	s, err := db.query(ctx, `SELECT `+eventColumns+` FROM events WHERE id = ? AND merchant_id = ? AND live = ?`)
	if err != nil {
		return nil, err
	}
	return scanEvent(s.Row(ctx, n, tenant.Merchant, tenant.Live))
}

// Event reads one event of the tenant inside the group, else ErrNotFound.
func (tx *Tx) Event(tenant payment.Tenant, n int64) (*payment.Event, error) {
	row, err := tx.row(`SELECT `+eventColumns+` FROM events WHERE id = ? AND merchant_id = ? AND live = ?`, n, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanEvent(row)
}

// eventSlack is how far an event's id may lie before its object's.
func eventSlack() int64 { return id.At(time.UnixMilli(0).Add(clockStep)) }

// Events lists the tenant's events that the filter lets through, newest first.
//
// There is one index, by tenant and id. Ids are drawn in the order of time, and an event's after its object's, which bounds what a
// list by time or by object has to pass over.
func (db *DB) Events(ctx context.Context, tenant payment.Tenant, f payment.EventFilter, p payment.Page) (payment.List[*payment.Event], error) {
	if db.shared {
		return db.placedEvents(ctx, tenant, f, p)
	}
	query := `SELECT ` + eventColumns + ` FROM events INDEXED BY events_by_tenant WHERE merchant_id = ? AND live = ?`
	args := []any{tenant.Merchant, tenant.Live}
	narrow := func(condition string, values ...any) {
		query += ` AND ` + condition
		args = append(args, values...)
	}
	if f.Type != "" {
		narrow(`type = ?`, f.Type)
	}
	if f.Object != 0 {
		narrow(`id > ? AND object_id = ? AND substr(type, 1, CAST(? AS INTEGER)) = ?`, f.Object-eventSlack(), f.Object, len(f.Kind)+1, f.Kind+".")
	}
	if !f.After.IsZero() {
		narrow(`id >= ? AND created_at > ?`, id.At(f.After), toMillis(f.After))
	}
	if !f.Before.IsZero() {
		narrow(`id < ? AND created_at < ?`, id.At(f.Before.Add(clockStep)), toMillis(f.Before))
	}
	return list(ctx, db, query, p, scanEvent, args...)
}

func scanEvent(row Scanner) (*payment.Event, error) {
	var (
		e       payment.Event
		created int64
	)
	err := row.Scan(&e.ID, &e.Tenant.Merchant, &e.Tenant.Live, &e.Type, &e.Object, &e.Sequence, &e.Data, &created)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	e.CreatedAt = fromMillis(created)
	return &e, nil
}
