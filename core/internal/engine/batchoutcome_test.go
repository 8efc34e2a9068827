package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// lockCaptures blocks the first statement of each batch of outcome records.
const lockCaptures = "LOCK TABLE captures IN EXCLUSIVE MODE"

// captures begins a payment of each tenant, and returns the outcome records that capture them.
func captures(t *testing.T, s *coretest.Service, tenants ...payment.Tenant) []*store.OutcomeRecord {
	t.Helper()
	all := make([]*store.OutcomeRecord, len(tenants))
	for n, tenant := range tenants {
		i := newIntent(s, s.Request("").ID)
		i.Transaction.Tenant = tenant
		if c, err := s.DB.BeginPayment(t.Context(), i); err != nil || !c.Held {
			t.Fatalf("begin: got %+v, %v", c, err)
		}
		all[n] = newCapture(s, i.Transaction)
	}
	return all
}

func newCapture(s *coretest.Service, open *payment.Transaction) *store.OutcomeRecord {
	to := *open
	to.Status, to.Authorized, to.Captured, to.Version = payment.Captured, to.Amount, to.Amount, 1
	body := fmt.Appendf(nil, `{"id":%d}`, to.ID)
	return &store.OutcomeRecord{
		Transaction: &to, Claim: open.Claim, Status: 201, Body: body, Capture: s.IDs.Next(), Event: payment.Event{
			ID: s.IDs.Next(), Tenant: to.Tenant, Type: "transaction.captured", Object: to.ID, Sequence: 1, Data: body,
		},
	}
}

// finishBatch finishes payments in one batch, and returns the errors in order.
func finishBatch(
	t *testing.T, s *coretest.Service, prepare func() []*store.OutcomeRecord,
) (all []*store.OutcomeRecord, errs []error) {
	t.Helper()
	var first *store.OutcomeRecord
	return writeBatch(t, s, lockCaptures, func() {
		_ = s.DB.FinishPayment(t.Context(), first) // it may time out
	}, func() []*store.OutcomeRecord {
		first = captures(t, s, s.Tenant)[0]
		return prepare()
	}, func(r *store.OutcomeRecord) error { return s.DB.FinishPayment(t.Context(), r) })
}

// wantOutcome checks that all rows of an outcome record exist if want is nil, and none if want is
// an error.
func wantOutcome(t *testing.T, s *coretest.Service, what string, r *store.OutcomeRecord, err, want error) {
	t.Helper()
	id := r.Transaction.ID
	got := [5]int64{
		s.Number(t, `SELECT COUNT(*) FROM transactions
			WHERE id = ?1 AND status = 'captured' AND version = 1 AND amount_captured = 100 AND claim = 0`, id),
		s.Number(t, "SELECT COUNT(*) FROM captures WHERE transaction_id = ?1 AND state = 'succeeded' AND amount = 100", id),
		s.Number(t, "SELECT COUNT(*) FROM events WHERE object_id = ?1", id),
		s.Number(t, "SELECT COUNT(*) FROM idempotency_keys WHERE id = ? AND status = 201 AND body = ?", r.Claim, r.Body),
		s.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE event_id = ?", r.Event.ID),
	}
	all := [5]int64{}
	if want == nil {
		all = [5]int64{1, 1, 1, min(r.Claim, 1), int64(len(r.Deliveries))}
	}
	if !errors.Is(err, want) || got != all {
		t.Errorf("%s: got %v and rows %v, want %v and %v", what, err, got, want, all)
	}
}

// TestBatchOfOutcomesPostgreSQL finishes payments in one batch. Records of payments that already
// have an outcome or another attempt leave no row. The others are written. If the batch guessed the
// tenant's endpoints wrong, the record's command delivers to the right ones.
func TestBatchOfOutcomesPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	subscribed, changed := payment.Tenant{Merchant: 1}, payment.Tenant{Merchant: 3}
	live := payment.Tenant{Merchant: s.Tenant.Merchant, Live: true}
	tenants := []payment.Tenant{s.Tenant, subscribed, live, changed, subscribed, s.Tenant, subscribed, s.Tenant, s.Tenant}
	s.MustExec(t, "INSERT INTO merchants (id, name, created_at) VALUES (1, 'told', 0), (3, 'changed', 0)")
	const endpoint = `INSERT INTO webhook_endpoints (id, merchant_id, live, url, types, status, created_at, updated_at)
		VALUES (?, ?, 0, '', ?, 'enabled', 0, 0)`
	s.MustExec(t, endpoint, 11, subscribed.Merchant, "transaction.captured")
	s.MustExec(t, endpoint, 12, subscribed.Merchant, "*")
	s.MustExec(t, endpoint, 13, subscribed.Merchant, "refund.created")
	all, errs := finishBatch(t, s, func() []*store.OutcomeRecord {
		s.MustExec(t, "DELETE FROM webhook_endpoints WHERE id = 14")
		for _, tenant := range tenants[:4] { // an event of each, by which the core guesses the endpoints
			event := payment.Event{ID: s.IDs.Next(), Tenant: tenant, Type: "customer.created", Object: 1, Data: []byte("{}")}
			if err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertEvent(&event) }); err != nil {
				t.Fatal(err)
			}
		}
		s.MustExec(t, endpoint, 14, changed.Merchant, "*")
		all := captures(t, s, tenants...)
		s.MustExec(t, "UPDATE transactions SET status = 'failed', claim = 0 WHERE id = ?", all[4].Transaction.ID)
		s.MustExec(t, "UPDATE transactions SET attempt = 1 WHERE id = ?", all[5].Transaction.ID)
		s.MustExec(t, "UPDATE transactions SET status = 'unknown' WHERE id = ?", all[7].Transaction.ID)
		s.MustExec(t, "UPDATE transactions SET claim = 0 WHERE id = ?", all[8].Transaction.ID)
		all[8].Claim, all[0].Body = 0, []byte("not the event's")
		return all
	})
	want := map[int]error{4: store.ErrConflict, 5: store.ErrConflict}
	for n, r := range all {
		wantOutcome(t, s, fmt.Sprint(n), r, errs[n], want[n])
	}
	for n, want := range map[int]int64{1: 2, 6: 2, 3: 1} {
		got := s.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE event_id = ? AND endpoint_id IN (11, 12, 14)", all[n].Event.ID)
		if got != want {
			t.Errorf("%d: got %d deliveries, want one to each endpoint that wants the event: %d", n, got, want)
		}
	}
}

// TestBatchOfOutcomesThatIsRefusedPostgreSQL finishes three payments in one batch, one of which
// violates a constraint. The batch is rolled back. The commands of the members write all but that
// one.
func TestBatchOfOutcomesThatIsRefusedPostgreSQL(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		spoil func(r *store.OutcomeRecord, capture, key int64)
		want  error // nil for any error
	}{
		"more than was authorized": {func(r *store.OutcomeRecord, _, _ int64) { r.Transaction.Captured++ }, nil},
		"an existing capture":      {func(r *store.OutcomeRecord, capture, _ int64) { r.Capture = capture }, store.ErrDuplicate},
		"a key with a response":    {func(r *store.OutcomeRecord, _, key int64) { r.Claim = key }, store.ErrConflict},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenShared(t)
			if _, err := s.Pay(t.Context(), s.Request("responded"), 100, true); err != nil {
				t.Fatal(err)
			}
			capture, key := s.Number(t, "SELECT id FROM captures"), s.Number(t, "SELECT id FROM idempotency_keys")
			all, errs := finishBatch(t, s, func() []*store.OutcomeRecord {
				all := captures(t, s, s.Tenant, s.Tenant, s.Tenant)
				c.spoil(all[1], capture, key)
				return all
			})
			wanted := c.want
			if wanted == nil {
				wanted = errs[1]
			}
			if errs[1] == nil {
				t.Error("the record was written")
			}
			for n, want := range []error{nil, wanted, nil} {
				wantOutcome(t, s, fmt.Sprint(n), all[n], errs[n], want)
			}
		})
	}
}

// TestFinishWhileAnEndpointIsMadePostgreSQL finishes a payment while a command makes an endpoint of
// its tenant. The outcome record waits for that command, and its event is delivered to the
// endpoint.
func TestFinishWhileAnEndpointIsMadePostgreSQL(t *testing.T) {
	t.Parallel()
	for name, open := range sharedStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			if _, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil { // the core guesses no endpoint
				t.Fatal(err)
			}
			r := captures(t, s, s.Tenant)[0]
			var err error
			duringTransaction(t, s, []string{
				"SELECT pg_advisory_xact_lock(hashtextextended('" + r.EndpointsLock() + "', 0))",
				fmt.Sprintf(`INSERT INTO webhook_endpoints (id, merchant_id, live, url, types, status, created_at, updated_at)
					VALUES (1, %d, 0, '', '*', 'enabled', 0, 0)`, s.Tenant.Merchant),
			}, func() { err = s.DB.FinishPayment(t.Context(), r) })
			wantOutcome(t, s, "behind the command", r, err, nil)
			if len(r.Deliveries) != 1 {
				t.Errorf("got %d deliveries, want 1", len(r.Deliveries))
			}
		})
	}
}
