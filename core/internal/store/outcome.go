package store

import (
	"context"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// OutcomeRecord is the outcome record of a payment, which its last commit writes.
type OutcomeRecord struct {
	Transaction *payment.Transaction // resolved
	Claim       int64                // of the request's idempotency key, 0 for none
	Status      int                  // of the response
	Body        []byte               // of the response
	Capture     int64                // id of the capture if the payment was captured immediately, else 0
	Event       payment.Event
	// Redraw gives Capture and Event other ids, as Intent.Redraw does; nil for none.
	Redraw func()

	Core int64 // the process that commits the record; FinishPayment fills it in

	// An engine fills in the fields below if it needs them.

	Result     string             // the transaction's result as it is stored: see EncodeResult
	Endpoints  []payment.Endpoint // ids and types of the tenant's enabled endpoints: see ReadEndpoints
	Deliveries []payment.Delivery // of the event, each with its id and endpoint
}

// FinishPayment commits the outcome record of a payment: the transaction, the event with its
// deliveries, and the response. If the payment was captured immediately, its capture is part of the
// record. It commits although ctx has ended, because the outcome exists at the acquirer.
//
// It returns ErrConflict if the transaction's attempt has an outcome already or the idempotency key
// has a response. It also returns ErrConflict if the merchant has changed the transaction since it
// was read. It returns ErrDuplicate if the id of the capture or event is taken. Nothing was written
// then. After ErrUnavailable the outcome of the commit is unknown.
func (db *DB) FinishPayment(ctx context.Context, r *OutcomeRecord) error {
	ctx = context.WithoutCancel(ctx)
	_, span := db.tracer.Step(ctx, "store commit")
	defer span.End()
	r.Core = db.process
	err := db.engine.FinishPayment(ctx, r)
	failBusy(span, err)
	return err
}

// FinishPayment is DB.FinishPayment as part of a command.
func (tx *Tx) FinishPayment(r *OutcomeRecord) error {
	r.Core = tx.db.process
	err := tx.s.FinishPayment(tx, r)
	tx.wrote = tx.wrote || err == nil
	tx.delivers = tx.delivers || err == nil && len(r.Deliveries) > 0
	return err
}

// EncodeResult fills in Result.
func (r *OutcomeRecord) EncodeResult() (err error) {
	r.Result, err = encodeResult(&r.Transaction.Result)
	return err
}

// EndpointsLock returns the name of the lock on the tenant's endpoints. A command that writes the
// deliveries of r shares it. A command that changes the endpoints takes it alone.
func (r *OutcomeRecord) EndpointsLock() string { return endpointsLock(r.Transaction.Tenant) }

// GuessEndpoints fills in the endpoints and deliveries of r from the tenant's endpoints that a
// command has read last. It returns false if no command has read them. Other processes change
// endpoints, too, so the commit must compare them with the stored ones.
func (db *DB) GuessEndpoints(ctx context.Context, r *OutcomeRecord) bool {
	targets, ok := db.endpoints.guess(r.Transaction.Tenant)
	if ok {
		r.deliverTo(db, targets, db.tracer.OriginOf(ctx))
	}
	return ok
}

// ReadEndpoints reads the tenant's endpoints and fills in the endpoints and deliveries of r. No
// other command changes the endpoints before this one ends.
func (tx *Tx) ReadEndpoints(r *OutcomeRecord) error {
	tenant := r.Transaction.Tenant
	if err := tx.s.Lock(r.EndpointsLock(), true); err != nil {
		return err
	}
	targets, err := tx.targets(tenant)
	if err == nil {
		r.deliverTo(tx.db, targets, tx.from)
	}
	return err
}

// deliverTo sets the endpoints of r, and makes a delivery of the event to each endpoint that
// subscribes to it.
func (r *OutcomeRecord) deliverTo(db *DB, endpoints []payment.Endpoint, from telemetry.Origin) {
	r.Endpoints, r.Deliveries = endpoints, nil
	for _, e := range endpoints {
		if !e.Wants(r.Event.Type) {
			continue
		}
		d := payment.Delivery{ID: db.ids.Next(), Endpoint: e.ID}
		db.origins.put(d.ID, from)
		r.Deliveries = append(r.Deliveries, d)
	}
}
