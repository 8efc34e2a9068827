package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

var (
	insertDelivery         = declare("insertDelivery")
	listDeliveries         = declareList("listDeliveries")
	selectDelivery         = declare("selectDelivery")
	selectWaitingEndpoints = declare("selectWaitingEndpoints")
	leaseDelivery          = declare("leaseDelivery")
	selectDueDeliveries    = declare("selectDueDeliveries")
	hastenDelivery         = declare("hastenDelivery")
	endDeliveryAttempt     = declare("endDeliveryAttempt")
	releaseDeliveryAttempt = declare("releaseDeliveryAttempt")
	dropLeases             = declare("dropLeases")
	dropLeasesOf           = declare("dropLeasesOf")
	markEndpointFailing    = declare("markEndpointFailing")
	clearEndpointFailing   = declare("clearEndpointFailing")
	countPendingDeliveries = declare("countPendingDeliveries")
	leaseDeliveries        = declare("leaseDeliveries")
)

// InsertDelivery inserts a delivery that is due immediately and returns its new id. After the
// commit it wakes the deliverer. It returns ErrDuplicate if four new ids in a row are taken.
func (tx *Tx) InsertDelivery(event, endpoint int64) (int64, error) {
	d := &payment.Delivery{Event: event, Endpoint: endpoint}
	err := tx.insertDeliveries([]*payment.Delivery{d})
	return d.ID, err
}

// insertDeliveries is InsertDelivery for several deliveries. It fills in their ids.
func (tx *Tx) insertDeliveries(left []*payment.Delivery) error {
	for try := 0; len(left) > 0; try++ {
		if try == 4 {
			return ErrDuplicate
		}
		args := make([][]any, len(left))
		for i, d := range left {
			d.ID = tx.db.ids.Next()
			args[i] = []any{d.ID, d.Endpoint, d.Event, toMillis(tx.Now)}
		}
		counts, err := tx.execEach(insertDelivery, args)
		if err != nil {
			return err
		}
		tx.delivers = true
		var taken []*payment.Delivery
		for i, d := range left {
			if counts[i] == 0 {
				taken = append(taken, d)
				continue
			}
			tx.db.origins.put(d.ID, tx.from)
		}
		left = taken
	}
	return nil
}

// Deliveries lists the deliveries to one endpoint, newest first. The caller must have checked that
// the endpoint is the tenant's.
func (db *DB) Deliveries(
	ctx context.Context, tenant payment.Tenant, endpoint int64, p payment.Page,
) (payment.List[*payment.Delivery], error) {
	return list(ctx, db, tenant, listDeliveries, p, deliveriesOf(tenant), endpoint)
}

// Delivery reads one delivery as part of the command, else ErrNotFound. The caller must check that
// the delivery's endpoint is the tenant's.
func (tx *Tx) Delivery(tenant payment.Tenant, n int64) (*payment.Delivery, error) {
	row, err := tx.row(selectDelivery, n)
	if err != nil {
		return nil, err
	}
	return deliveriesOf(tenant)(row)
}

// Waiting is an enabled endpoint that has pending deliveries.
type Waiting struct {
	Endpoint payment.Endpoint
	DueAt    time.Time // of its next delivery
}

// WaitingEndpoints lists all enabled endpoints with pending deliveries. It steps from endpoint to
// endpoint through the index of pending deliveries, so a long queue does not slow it down.
func (db *DB) WaitingEndpoints(ctx context.Context) ([]Waiting, error) {
	return backgroundRows(ctx, db, selectWaitingEndpoints, scanWaiting)
}

func scanWaiting(row Scanner) (Waiting, error) {
	var due int64
	e, err := scanEndpoint(wider{row, &due})
	if err != nil {
		return Waiting{}, err
	}
	return Waiting{*e, fromMillis(due)}, nil
}

// Lease is the right to make one attempt. It ends with EndAttempt, with ReleaseAttempt or at its
// time.
type Lease struct {
	Delivery  int64
	Event     int64
	Attempt   int64 // from 1
	CreatedAt time.Time
}

// LeaseDeliveries begins an attempt of up to limit due deliveries to an endpoint. It selects the
// longest due, after the delivery after, and returns them oldest first; the zero Due is the start
// of the queue. No other process can lease them before until. An attempt that never ended, because
// its process died, counts among the attempts.
func (tx *Tx) LeaseDeliveries(endpoint int64, after Due, limit int, until time.Time) ([]Lease, error) {
	return tx.lease(leaseDeliveries,
		endpoint, toMillis(tx.Now), after.At, after.ID, limit, tx.db.process, toMillis(until), toMillis(tx.Now))
}

// LeaseDelivery begins an attempt of one delivery, as LeaseDeliveries does. It returns no lease if
// the delivery is not due.
func (tx *Tx) LeaseDelivery(delivery int64, until time.Time) ([]Lease, error) {
	return tx.lease(leaseDelivery,
		tx.db.process, toMillis(until), toMillis(tx.Now), delivery, toMillis(tx.Now))
}

// DueDeliveries returns a page of the due deliveries to an endpoint, in the order in which
// LeaseDeliveries leases them.
func (db *DB) DueDeliveries(ctx context.Context, endpoint int64, after Due, at time.Time, limit int) ([]Due, error) {
	return backgroundRows(ctx, db, selectDueDeliveries, scanDue, endpoint, toMillis(at), after.At, after.ID, limit)
}

// lease runs a statement that leases deliveries.
func (tx *Tx) lease(s *Statement, args ...any) (out []Lease, err error) {
	err = tx.each(s, func(row Scanner) error {
		var l Lease
		var created int64
		if err := row.Scan(&l.Delivery, &l.Event, &l.Attempt, &created); err != nil {
			return fmt.Errorf("lease delivery: %w", err)
		}
		l.CreatedAt = fromMillis(created)
		out = append(out, l)
		return nil
	}, args...)
	slices.SortFunc(out, func(a, b Lease) int { return cmp.Compare(a.Delivery, b.Delivery) }) // PostgreSQL keeps no order
	return out, err
}

// HastenDelivery makes a delivery due now and ends its lease, if at is still earlier than its last
// change and its next attempt: see EachDeliveryAhead. The result of the leased attempt cannot be
// written any more: EndAttempt returns ErrConflict.
func (tx *Tx) HastenDelivery(n int64, at time.Time) error {
	return tx.exec(hastenDelivery,
		toMillis(at), toMillis(tx.Now), n)
}

// AttemptEnd is the result of a leased attempt.
type AttemptEnd struct {
	Lease   Lease
	Attempt payment.DeliveryAttempt
	Status  payment.DeliveryStatus // of the delivery from then on
	Due     time.Time              // of the next attempt, while the delivery is pending
}

// EndAttempts writes the results of leased attempts, and returns for each whether it was written. A
// result is not written if the lease expired and another attempt has begun, if the lease was
// dropped, or if the delivery was removed.
func (tx *Tx) EndAttempts(ends []AttemptEnd) (written []bool, err error) {
	args := make([][]any, len(ends))
	for i, e := range ends {
		a, l := e.Attempt, e.Lease
		args[i] = []any{
			string(e.Status), toMillis(e.Due), a.Status, a.Error, a.Duration.Milliseconds(), toMillis(a.At), toMillis(tx.Now),
			l.Delivery, l.Attempt,
		}
	}
	counts, err := tx.execEach(endDeliveryAttempt, args)
	if err != nil {
		return nil, err
	}
	written = make([]bool, len(ends))
	for i, n := range counts {
		written[i] = n == 1
	}
	return written, nil
}

// EndAttempt is EndAttempts for one attempt. It returns ErrConflict if the result is not written.
func (tx *Tx) EndAttempt(l Lease, a payment.DeliveryAttempt, status payment.DeliveryStatus, due time.Time) error {
	written, err := tx.EndAttempts([]AttemptEnd{{l, a, status, due}})
	if err == nil && !written[0] {
		err = ErrConflict
	}
	return err
}

// ReleaseAttempt ends a lease as if its attempt had not begun: the delivery is due and the attempt
// does not count. ErrConflict as for EndAttempt.
func (tx *Tx) ReleaseAttempt(l Lease) error {
	return tx.execOne(releaseDeliveryAttempt, toMillis(tx.Now), l.Delivery, l.Attempt)
}

// DropLeases makes all leased deliveries due. A process that has the store for itself calls it at
// its start, when no attempt runs. DropLeasesOf is for shared stores.
func (tx *Tx) DropLeases() error {
	return tx.exec(dropLeases,
		toMillis(tx.Now))
}

// DropLeasesOf is DropLeases for the leases of one process, and returns how many there were. If
// that process still writes the result of such an attempt, it gets ErrConflict.
func (tx *Tx) DropLeasesOf(process int64) (int64, error) {
	n, err := tx.execCount(dropLeasesOf, toMillis(tx.Now), process)
	tx.delivers = tx.delivers || n > 0
	return n, err
}

// NoteFailure marks an endpoint as failing from now on, unless it is marked already.
func (tx *Tx) NoteFailure(endpoint int64) error {
	return tx.exec(markEndpointFailing, toMillis(tx.Now), endpoint)
}

// NoteSuccesses removes the mark of NoteFailure from endpoints that have it.
func (tx *Tx) NoteSuccesses(endpoints []int64) error {
	args := make([][]any, len(endpoints))
	for i, endpoint := range endpoints {
		args[i] = []any{endpoint}
	}
	_, err := tx.execEach(clearEndpointFailing, args)
	return err
}

// PendingDeliveries counts the deliveries that wait for an attempt or are under way. It also
// returns when the oldest of them was made, the zero time if there is none. It reads only the index
// of pending deliveries.
func (db *DB) PendingDeliveries(ctx context.Context) (n int64, oldest time.Time, err error) {
	var first int64
	if err := db.backgroundRow(ctx, countPendingDeliveries).Scan(&n, &first); err != nil {
		return 0, time.Time{}, fmt.Errorf("count pending deliveries: %w", err)
	}
	if n > 0 {
		oldest = id.TimeOf(first)
	}
	return n, oldest, nil
}

// DeliveriesDue returns a channel that is ready if deliveries were committed since the last
// receive.
func (db *DB) DeliveriesDue() <-chan struct{} { return db.due }

// deliveriesOf returns a scan function for deliveries to endpoints of the tenant: their rows do not
// contain the tenant.
func deliveriesOf(tenant payment.Tenant) func(Scanner) (*payment.Delivery, error) {
	return func(row Scanner) (*payment.Delivery, error) {
		d, err := scanDelivery(row)
		if err == nil {
			d.Tenant = tenant
		}
		return d, err
	}
}

func scanDelivery(row Scanner) (*payment.Delivery, error) {
	var (
		d                                payment.Delivery
		due, millis, at, created, update int64
	)
	err := row.Scan(&d.ID, &d.Endpoint, &d.Event, &d.EventType, &d.Status, &d.Attempts, &d.Leased, &due, &d.Last.Status,
		&d.Last.Error, &millis, &at, &created, &update)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read delivery: %w", err)
	}
	d.Last.Duration = time.Duration(millis) * time.Millisecond
	d.DueAt, d.Last.At, d.CreatedAt, d.UpdatedAt = fromMillis(due), fromMillis(at), fromMillis(created), fromMillis(update)
	return &d, nil
}
