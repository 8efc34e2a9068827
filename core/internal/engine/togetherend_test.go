package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// ends opens payments and returns what is to become of them: each is captured.
func ends(t *testing.T, s *coretest.Service, tenants ...payment.Tenant) []*store.Closing {
	t.Helper()
	all := make([]*store.Closing, len(tenants))
	for i, tenant := range tenants {
		o := opening(s, s.Request("").ID)
		o.Transaction.Tenant = tenant
		mustOpen(t, s, o)
		all[i] = closing(s, o.Transaction)
	}
	return all
}

// mustOpen opens a payment, by itself and for as long as it takes.
func mustOpen(t *testing.T, s *coretest.Service, o *store.Opening) {
	t.Helper()
	for done := false; !done; {
		var err error
		if done, err = s.DB.OpenPayment(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

func closing(s *coretest.Service, open *payment.Transaction) *store.Closing {
	to := *open
	to.Status, to.Authorized, to.Captured, to.Version = payment.Captured, to.Amount, to.Amount, 1
	body := fmt.Appendf(nil, `{"id":%d}`, to.ID)
	return &store.Closing{Transaction: &to, Claim: open.Claim, Status: 201, Answer: body, Capture: s.IDs.Next(), Event: payment.Event{
		ID: s.IDs.Next(), Tenant: to.Tenant, Type: "transaction.captured", Object: to.ID, Sequence: 1, Data: body,
	}}
}

// closed says what became of closings that were written as one group.
func closed(t *testing.T, s *coretest.Service, prepare func() []*store.Closing) (all []*store.Closing, done []bool) {
	t.Helper()
	var first *store.Closing
	return written(t, s, "LOCK TABLE captures IN EXCLUSIVE MODE", func() {
		_, _ = s.DB.ClosePayment(t.Context(), first) // it may give up to wait
	}, func() []*store.Closing {
		first = ends(t, s, s.Tenant)[0]
		return prepare()
	}, s.DB.ClosePayment)
}

// wantClosed wants all of a payment's end to be written, or nothing of it.
func wantClosed(t *testing.T, s *coretest.Service, what string, c *store.Closing, done, want bool) {
	t.Helper()
	var got [5]int64
	for i, query := range []string{
		"SELECT COUNT(*) FROM transactions WHERE id = ?1 AND status = 'captured' AND version = 1 AND amount_captured = 100 AND claim = 0",
		"SELECT COUNT(*) FROM captures WHERE transaction_id = ?1 AND state = 'succeeded' AND amount = 100",
		"SELECT COUNT(*) FROM events WHERE object_id = ?1",
	} {
		got[i] = s.Number(t, query, c.Transaction.ID)
	}
	got[3] = s.Number(t, "SELECT COUNT(*) FROM idempotency_keys WHERE id = ? AND status = 201 AND answer = ?", c.Claim, c.Answer)
	got[4] = s.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE event_id = ?", c.Event.ID)
	all := [5]int64{}
	if want {
		all = [5]int64{1, 1, 1, min(c.Claim, 1), int64(len(c.Deliveries))}
	}
	if done != want || got != all {
		t.Errorf("%s: got %t and rows %v, want %t and %v", what, done, got, want, all)
	}
}

// TestGroupOfEndsLeavesOutPostgreSQL: of payments whose ends are written as one group those are left out, and are as they were, that are not open any more,
// that another attempt has, or whose tenant has other endpoints than their core knows. The others are written, whoever's they are, each with what is its own.
func TestGroupOfEndsLeavesOutPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	told, changed := payment.Tenant{Merchant: 1}, payment.Tenant{Merchant: 3}
	tenants := []payment.Tenant{s.Tenant, told, {Merchant: s.Tenant.Merchant, Live: true}, changed, told, s.Tenant, told, s.Tenant, s.Tenant}
	s.MustExec(t, "INSERT INTO merchants (id, name, created_at) VALUES (1, 'told', 0), (3, 'changed', 0)")
	const endpoint = `INSERT INTO webhook_endpoints (id, merchant_id, live, url, types, status, created_at, updated_at) VALUES (?, ?, 0, '', ?, 'enabled', 0, 0)`
	s.MustExec(t, endpoint, 11, told.Merchant, "transaction.captured")
	s.MustExec(t, endpoint, 12, told.Merchant, "*")
	s.MustExec(t, endpoint, 13, told.Merchant, "refund.created")
	for _, tenant := range tenants[:4] { // a first event of each, from which the core knows their endpoints
		event := payment.Event{ID: s.IDs.Next(), Tenant: tenant, Type: "customer.created", Object: 1, Data: []byte("{}")}
		if err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertEvent(&event) }); err != nil {
			t.Fatal(err)
		}
	}
	s.MustExec(t, endpoint, 14, changed.Merchant, "*")
	all, done := closed(t, s, func() []*store.Closing {
		all := ends(t, s, tenants...)
		s.MustExec(t, "UPDATE transactions SET status = 'failed', claim = 0 WHERE id = ?", all[4].Transaction.ID)
		s.MustExec(t, "UPDATE transactions SET attempt = 1 WHERE id = ?", all[5].Transaction.ID)
		s.MustExec(t, "UPDATE transactions SET status = 'unknown' WHERE id = ?", all[7].Transaction.ID)
		s.MustExec(t, "UPDATE transactions SET claim = 0 WHERE id = ?", all[8].Transaction.ID)
		all[8].Claim, all[0].Answer = 0, []byte("one of its own")
		return all
	})
	for i, c := range all {
		wantClosed(t, s, fmt.Sprint(i), c, done[i], !slices.Contains([]int{3, 4, 5}, i))
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id IN (11, 12) AND event_id IN (?, ?)", all[1].Event.ID, all[6].Event.ID); got != 4 {
		t.Errorf("got %d deliveries, want one of each event to each endpoint that wants it", got)
	}
}

// TestGroupThatIsRefusedPostgreSQL: when one of a group breaks what must hold, nothing of the group is done and nobody of it fails: each is left to a
// command of its own, where all but that one are done.
func TestGroupThatIsRefusedPostgreSQL(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(c *store.Closing, capture, key int64){
		"more than was authorized": func(c *store.Closing, _, _ int64) { c.Transaction.Captured++ },
		"a capture that is there":  func(c *store.Closing, capture, _ int64) { c.Capture = capture },
		"a key that is answered":   func(c *store.Closing, _, key int64) { c.Claim = key },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenShared(t)
			if _, err := s.Pay(t.Context(), s.Request("answered"), 100, true); err != nil {
				t.Fatal(err)
			}
			capture, key := s.Number(t, "SELECT id FROM captures"), s.Number(t, "SELECT id FROM idempotency_keys")
			all, done := closed(t, s, func() []*store.Closing {
				all := ends(t, s, s.Tenant, s.Tenant, s.Tenant)
				spoil(all[1], capture, key)
				return all
			})
			for i, c := range all {
				wantClosed(t, s, fmt.Sprint(i), c, done[i], false)
			}
			for i, c := range all {
				done, err := s.DB.ClosePayment(t.Context(), c)
				if wantClosed(t, s, fmt.Sprint(i, " alone"), c, done, i != 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestGroupBesideANewEndpointPostgreSQL: while a command makes an endpoint, no payment of its tenant is ended by a group, which would not see it: the endpoint
// would have been there before the event, and not be told of it.
func TestGroupBesideANewEndpointPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	if _, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil { // from which the core knows that there is none
		t.Fatal(err)
	}
	c := ends(t, s, s.Tenant)[0]
	tx, err := s.Inspect.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", store.EndpointsLock(s.Tenant)); err != nil {
		t.Fatal(err)
	}
	if done, err := s.DB.ClosePayment(t.Context(), c); done || err != nil {
		t.Errorf("beside it: got %t, %v", done, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if done, err := s.DB.ClosePayment(t.Context(), c); !done || err != nil {
		t.Errorf("behind it: got %t, %v", done, err)
	}
}
