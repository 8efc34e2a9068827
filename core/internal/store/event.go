package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

var (
	selectEvent = declare("selectEvent")
	insertEvent = declare("insertEvent")
	listEvents  = declareList("listEvents")
)

// clockStep is how far the clock can be set back before a list by time or object misses events.
const clockStep = 24 * time.Hour

// InsertEvent inserts e and a delivery of it to each endpoint of the tenant that subscribes to it.
// It fills in e.CreatedAt.
func (tx *Tx) InsertEvent(e *payment.Event) error {
	e.CreatedAt = tx.Now
	err := tx.insert(insertEvent,
		e.ID, e.Tenant.Merchant, e.Tenant.Live, e.Type, e.Object, e.Sequence, string(e.Data), toMillis(tx.Now))
	if err != nil {
		return err
	}
	return tx.deliver(e)
}

// InsertEvents is InsertEvent for several events of one tenant.
func (tx *Tx) InsertEvents(events ...*payment.Event) error {
	args := make([][]any, len(events))
	for i, e := range events {
		e.CreatedAt = tx.Now
		args[i] = []any{
			e.ID, e.Tenant.Merchant, e.Tenant.Live, e.Type, e.Object, e.Sequence, string(e.Data), toMillis(tx.Now),
		}
	}
	counts, err := tx.execEach(insertEvent, args)
	if err != nil {
		return err
	}
	if slices.Contains(counts, 0) {
		return ErrDuplicate
	}
	return tx.deliver(events...)
}

// Event reads one event of the tenant, else ErrNotFound.
func (db *DB) Event(ctx context.Context, tenant payment.Tenant, n int64) (*payment.Event, error) {
	return scanEvent(db.rowOf(ctx, tenant, selectEvent, n, tenant.Merchant, tenant.Live))
}

// Event reads one event of the tenant as part of the command, else ErrNotFound.
func (tx *Tx) Event(tenant payment.Tenant, n int64) (*payment.Event, error) {
	row, err := tx.row(selectEvent, n, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanEvent(row)
}

// eventSlack is how far the id of an event can be below the id of its object, after the clock was
// set back by clockStep.
func eventSlack() int64 { return id.At(time.UnixMilli(0).Add(clockStep)) }

// Events lists the tenant's events that match the filter, newest first.
//
// The only index is by tenant and id. Ids grow with time, and the id of an event is drawn after
// that of its object. A range of ids therefore bounds the events that a list by time or by object
// reads.
func (db *DB) Events(
	ctx context.Context, tenant payment.Tenant, f payment.EventFilter, p payment.Page,
) (payment.List[*payment.Event], error) {
	object, first, last := int64(0), int64(0), int64(math.MaxInt64) // bounds of the events' ids
	after, before := int64(math.MinInt64), int64(math.MaxInt64)
	if f.Object != 0 {
		object = f.Object - eventSlack()
	}
	if !f.After.IsZero() {
		first, after = id.At(f.After), toMillis(f.After)
	}
	if !f.Before.IsZero() {
		last, before = id.At(f.Before.Add(clockStep)), toMillis(f.Before)
	}
	return list(ctx, db, tenant, listEvents, p, scanEvent, tenant.Merchant, tenant.Live, object, first, last,
		after, before, f.Type, f.Object, len(f.Kind)+1, f.Kind+".")
}

func scanEvent(row Scanner) (*payment.Event, error) {
	var (
		e       payment.Event
		created int64
	)
	err := row.Scan(&e.ID, &e.Tenant.Merchant, &e.Tenant.Live, &e.Type, &e.Object, &e.Sequence, &e.Data, &created,
		&e.Personal)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	e.CreatedAt = fromMillis(created)
	return &e, nil
}
