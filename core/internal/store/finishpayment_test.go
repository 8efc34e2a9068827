package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// newOutcome returns the outcome record that gives an unfinished payment a status.
func newOutcome(s *coretest.Service, open *payment.Transaction, status payment.Status) *store.OutcomeRecord {
	t := *open
	t.Status, t.Version = status, open.Version+1
	t.Result = payment.Result{Reached: true}
	r := &store.OutcomeRecord{Transaction: &t, Claim: open.Claim, Status: 201, Body: fmt.Appendf(nil, `{"id":%d}`, t.ID)}
	switch status {
	case payment.Captured:
		t.Authorized, t.Captured, r.Capture = t.Amount, t.Amount, s.IDs.Next()
	case payment.Authorized:
		t.Authorized, t.Result.ExpiresAt = t.Amount, s.Clock.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	default:
		t.Result.DeclineCode, r.Status, r.Body = "generic_decline", 402, []byte("{}")
	}
	r.Event = payment.Event{
		ID: s.IDs.Next(), Tenant: t.Tenant, Type: "transaction." + string(status), Object: t.ID, Sequence: t.Version,
		Data: fmt.Appendf(nil, `{"id":%d}`, t.ID),
	}
	return r
}

// mustInsertEndpoint makes an endpoint that subscribes to events of a type.
func mustInsertEndpoint(t *testing.T, s *coretest.Service, kind string) {
	t.Helper()
	w := payment.Endpoint{
		ID: s.IDs.Next(), Tenant: s.Tenant, Types: []string{kind}, Details: []byte("{}"),
		Status: payment.EndpointEnabled, Generation: 1, Version: 1,
	}
	if err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertEndpoint(&w) }); err != nil {
		t.Fatal(err)
	}
}

func mustFinish(t *testing.T, s *coretest.Service, r *store.OutcomeRecord) {
	t.Helper()
	if err := s.DB.FinishPayment(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// mustCacheEndpoints finishes a payment. An engine may cache the tenant's endpoints from then on.
func mustCacheEndpoints(t *testing.T, s *coretest.Service) {
	t.Helper()
	mustFinish(t, s, newOutcome(s, mustBegin(t, s, newIntent(s, "")), payment.Declined))
}

// prepareOutcome changes an outcome record, and the store, before FinishPayment.
type prepareOutcome func(t *testing.T, s *coretest.Service, r *store.OutcomeRecord)

// finishCase is one outcome record and the result of FinishPayment.
type finishCase struct {
	name       string
	status     payment.Status
	prepare    prepareOutcome
	deliveries int64
	err        error
}

// after runs a statement whose only parameter is the id of the transaction.
func after(statement string) prepareOutcome {
	return func(t *testing.T, s *coretest.Service, r *store.OutcomeRecord) {
		t.Helper()
		s.MustExec(t, statement, r.Transaction.ID)
	}
}

// endpoints makes endpoints that subscribe to events of some types, makes the engine cache them,
// and runs change.
func endpoints(change func(*testing.T, *coretest.Service), types ...string) prepareOutcome {
	return func(t *testing.T, s *coretest.Service, _ *store.OutcomeRecord) {
		t.Helper()
		for _, kind := range types {
			mustInsertEndpoint(t, s, kind)
		}
		mustCacheEndpoints(t, s)
		change(t, s)
	}
}

func finishCases() []finishCase {
	none := func(*testing.T, *coretest.Service) {}
	add := func(t *testing.T, s *coretest.Service) { t.Helper(); mustInsertEndpoint(t, s, "*") }
	return []finishCase{
		{name: "approved", status: payment.Authorized},
		{name: "declined", status: payment.Declined},
		{name: "captured", status: payment.Captured},
		{name: "without a key", status: payment.Captured, prepare: withoutKey},
		{
			name: "a response that is not the event's", status: payment.Captured,
			prepare: func(_ *testing.T, _ *coretest.Service, r *store.OutcomeRecord) { r.Body = []byte("another body") },
		},
		{
			name: "with deliveries", status: payment.Captured, deliveries: 2,
			prepare: endpoints(none, "transaction.captured", "*", "refund.created"),
		},
		{name: "endpoint added meanwhile", status: payment.Captured, deliveries: 2, prepare: endpoints(add, "*")},
		{name: "endpoint disabled meanwhile", status: payment.Captured, prepare: endpoints(mustDisableEndpoints, "*")},
		{
			name: "unknown", status: payment.Captured,
			prepare: after("UPDATE transactions SET status = 'unknown' WHERE id = ?"),
		},
		{name: "a confirmed payment", status: payment.Captured, prepare: confirmed},
	}
}

// withoutKey replaces the record by the record of a payment without an idempotency key.
func withoutKey(t *testing.T, s *coretest.Service, r *store.OutcomeRecord) {
	t.Helper()
	*r = *newOutcome(s, mustBegin(t, s, newIntent(s, "")), payment.Captured)
}

// confirmed turns the payment into a confirmed one, whose attempt is 1.
func confirmed(t *testing.T, s *coretest.Service, r *store.OutcomeRecord) {
	t.Helper()
	s.MustExec(t, "UPDATE transactions SET attempt = 1, expires_at = 1 WHERE id = ?", r.Transaction.ID)
	r.Transaction.Attempt = 1
}

// takenCapture gives the record's capture the id of another payment's capture.
func takenCapture(t *testing.T, s *coretest.Service, r *store.OutcomeRecord) {
	t.Helper()
	other := newOutcome(s, mustBegin(t, s, newIntent(s, "")), payment.Captured)
	mustFinish(t, s, other)
	r.Capture = other.Capture
}

func refusedFinishCases() []finishCase {
	return []finishCase{
		{name: "twice", err: store.ErrConflict, prepare: func(t *testing.T, s *coretest.Service, r *store.OutcomeRecord) {
			t.Helper()
			first := *r
			first.Capture, first.Event.ID = s.IDs.Next(), s.IDs.Next()
			mustFinish(t, s, &first)
		}},
		{
			name: "another attempt", err: store.ErrConflict,
			prepare: after("UPDATE transactions SET attempt = 1 WHERE id = ?"),
		},
		{
			name: "changed meanwhile", err: store.ErrConflict,
			prepare: after("UPDATE transactions SET version = version + 1 WHERE id = ?"),
		},
		{
			name: "a key with a response", err: store.ErrConflict,
			prepare: after("UPDATE idempotency_keys SET status = 201 WHERE id = (SELECT claim FROM transactions WHERE id = ?)"),
		},
		{name: "a taken id", err: store.ErrDuplicate, prepare: takenCapture},
	}
}

func mustDisableEndpoints(t *testing.T, s *coretest.Service) {
	t.Helper()
	list, err := s.DB.Endpoints(t.Context(), s.Tenant, "", payment.Page{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range list.Rows {
		err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
			disabled := *w
			disabled.Status = payment.EndpointDisabled
			return tx.UpdateEndpoint(&disabled)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFinishPayment finishes one payment of each kind.
func TestFinishPayment(t *testing.T) {
	t.Parallel()
	for _, c := range finishCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			onEachWay(t, func(t *testing.T, s *coretest.Service) {
				t.Helper()
				mustCacheEndpoints(t, s)
				r := newOutcome(s, mustBegin(t, s, newIntent(s, "k")), c.status)
				if c.prepare != nil {
					c.prepare(t, s, r)
				}
				mustFinish(t, s, r)
				wantFinished(t, s, r, c.deliveries)
			})
		})
	}
}

// TestFinishPaymentIsRefused finishes payments that cannot be finished. Nothing is written.
func TestFinishPaymentIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range refusedFinishCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			onEachEngine(t, func(t *testing.T, s *coretest.Service) {
				t.Helper()
				mustCacheEndpoints(t, s)
				r := newOutcome(s, mustBegin(t, s, newIntent(s, "k")), payment.Captured)
				c.prepare(t, s, r)
				before := outcomeRows(t, s)
				if err := s.DB.FinishPayment(t.Context(), r); !errors.Is(err, c.err) {
					t.Errorf("got %v, want %v", err, c.err)
				}
				if after := outcomeRows(t, s); after != before {
					t.Errorf("rows: got %v, want %v", after, before)
				}
			})
		})
	}
}

// TestFinishPaymentInACommand finishes payments as part of a command. Each is written with the
// command, and not at all if the command fails.
func TestFinishPaymentInACommand(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, s *coretest.Service) {
		t.Helper()
		mustInsertEndpoint(t, s, "*")
		r := newOutcome(s, mustBegin(t, s, newIntent(s, "k")), payment.Captured)
		failed := errors.New("the command fails")
		before := outcomeRows(t, s)
		for _, want := range []error{failed, nil} {
			err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return errors.Join(tx.FinishPayment(r), want) })
			if !errors.Is(err, want) {
				t.Fatalf("got %v, want %v", err, want)
			}
			if after := outcomeRows(t, s); want != nil && after != before {
				t.Errorf("rows: got %v, want %v", after, before)
			}
		}
		wantFinished(t, s, r, 1)
	})
}

// outcomeRows counts what outcome records write.
func outcomeRows(t *testing.T, s *coretest.Service) [4]int64 {
	t.Helper()
	return [4]int64{
		s.Number(t, "SELECT COUNT(*) FROM transactions WHERE status = 'processing'"),
		s.Number(t, "SELECT COUNT(*) FROM captures"),
		s.Number(t, "SELECT COUNT(*) FROM events"),
		s.Number(t, "SELECT COUNT(*) FROM idempotency_keys WHERE status = 0"),
	}
}

// wantFinished compares the rows of an outcome record with it.
func wantFinished(t *testing.T, s *coretest.Service, r *store.OutcomeRecord, deliveries int64) {
	t.Helper()
	want := r.Transaction
	got, err := s.DB.Transaction(t.Context(), want.Tenant, want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != want.Status || got.Authorized != want.Authorized || got.Captured != want.Captured ||
		got.Version != want.Version || got.Claim != 0 || got.Result != want.Result {
		t.Errorf("got %+v, want %+v", got, want)
	}
	expires := int64(0)
	if !want.Result.ExpiresAt.IsZero() {
		expires = want.Result.ExpiresAt.UnixMilli()
	}
	rows := [5]int64{
		s.Number(t, "SELECT expires_at FROM transactions WHERE id = ?", want.ID),
		s.Number(t, `SELECT COUNT(*) FROM captures WHERE id = ? AND transaction_id = ? AND amount = ?
			AND state = 'succeeded' AND final = 1`, r.Capture, want.ID, want.Captured),
		s.Number(t, "SELECT COUNT(*) FROM events WHERE id = ? AND object_id = ? AND type = ?",
			r.Event.ID, want.ID, r.Event.Type),
		s.Number(t, `SELECT COUNT(*) FROM webhook_deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id
			WHERE d.event_id = ? AND w.status = 'enabled' AND w.types IN ('*', ?)`, r.Event.ID, r.Event.Type),
		s.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE event_id = ?", r.Event.ID),
	}
	if all := [5]int64{expires, min(r.Capture, 1), 1, deliveries, deliveries}; rows != all {
		t.Errorf("expiry, captures, events, deliveries to enabled endpoints and to all: got %v, want %v", rows, all)
	}
	if r.Claim == 0 {
		return
	}
	key, err := s.DB.IdempotencyKey(t.Context(), want.Tenant, "k")
	if err != nil || key.Status != r.Status || string(key.Body) != string(r.Body) {
		t.Errorf("the key: got %+v, %v, want %d %s", key, err, r.Status, r.Body)
	}
}
