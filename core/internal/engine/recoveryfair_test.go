package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// mustHaveBacklog inserts unfinished steps of a tenant, n of each kind but voids. Their next
// attempts are due after a pause.
func mustHaveBacklog(t *testing.T, s *coretest.Service, tenant payment.Tenant, n int, pause time.Duration) {
	t.Helper()
	now := s.Clock.Now()
	numbers := "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) SELECT "
	for _, rows := range []string{
		`transactions (id, merchant_id, live, status, auto_capture, amount, currency, payment_method, details, created_at,
			updated_at) ` + numbers + `i, ?1, 0, 'unknown', 1, 100, 'usd', '', '{}', ?3, ?3 FROM n`,
		`captures (id, transaction_id, merchant_id, live, state, amount, currency, final, created_at, updated_at)
			` + numbers + `i, 1, ?1, 0, 'pending', 1, 'usd', 0, ?3, ?3 FROM n`,
		`refunds (id, transaction_id, merchant_id, live, state, amount, currency, created_at, updated_at)
			` + numbers + `i, 1, ?1, 0, 'pending', 1, 'usd', ?3, ?3 FROM n`,
		`reversals (kind, transaction_id, merchant_id, live, amount, currency, captured, since, due_at)
			` + numbers + `'authorize', i, ?1, 0, 100, 'usd', 1, ?3, ?3 FROM n`,
	} {
		s.MustExec(t, "INSERT INTO "+rows, tenant.Merchant, n, now.UnixMilli())
	}
	for kind, table := range map[payment.StepKind]string{
		payment.AuthorizeStep: "transactions", payment.CaptureStep: "captures", payment.RefundStep: "refunds",
		payment.ReversalStep: "reversals",
	} {
		s.MustExec(t, `INSERT INTO step_attempts (kind, object_id, number, attempts, running, begun_at, next_at, last_error)
			SELECT '`+string(kind)+`', id, 0, 9, 0, ?2, ?3, '' FROM `+table+` WHERE merchant_id = ?1`,
			tenant.Merchant, now.UnixMilli(), now.Add(pause).UnixMilli())
	}
}

// mustLoseEach loses the response to one step of each kind of a tenant, and adds a pending
// reversal.
func mustLoseEach(t *testing.T, s *coretest.Service, tenant payment.Tenant) {
	t.Helper()
	s.Tenant = tenant
	paid, held, voided := mustPay(t, s, true), mustPay(t, s, false), mustPay(t, s, false)
	for _, verb := range []coretest.Verb{coretest.Authorize, coretest.Capture, coretest.Void, coretest.Refund} {
		lose(s, verb, true, nil)
		r := s.Request("")
		take := map[coretest.Verb]func() (int, error){
			coretest.Authorize: func() (int, error) { a, err := s.Pay(t.Context(), r, 100, true); return a.Status, err },
			coretest.Capture: func() (int, error) {
				a, err := s.Engine.Capture(t.Context(), r, held, 100, true, nil)
				return a.Status, err
			},
			coretest.Void: func() (int, error) { a, err := s.Engine.Void(t.Context(), r, voided, nil); return a.Status, err },
			coretest.Refund: func() (int, error) {
				a, err := s.Engine.Refund(t.Context(), r, paid, 0, 100, []byte("{}"))
				return a.Status, err
			},
		}[verb]
		if status, err := take(); err != nil || status != 504 {
			t.Fatalf("%s: got %d, %v, want 504", verb, status, err)
		}
		heal(s)
	}
	now := s.Clock.Now()
	if err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
		return tx.InsertReversal(&payment.Reversal{
			Step:   payment.StepID{Kind: payment.AuthorizeStep, Transaction: s.IDs.Next()},
			Tenant: tenant, Amount: 100, Currency: "usd", Captured: true, Since: now, DueAt: now,
		})
	}); err != nil {
		t.Fatal(err)
	}
}

// TestBacklogDelaysNoOtherTenant: a merchant has more unfinished steps of each kind than several
// passes read. One pass tries all steps of the merchants before it and after it.
func TestBacklogDelaysNoOtherTenant(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	before, many, after := s.Tenant, mustMerchant(t, s), mustMerchant(t, s)
	mustHaveBacklog(t, s, many, 4200, time.Hour)
	r := s.Engine.NewRecovery()
	r.Serve()
	const kinds = 5
	for n := range 3 {
		mustLoseEach(t, s, before)
		mustLoseEach(t, s, after)
		s.Clock.Advance(time.Second)
		if got, err := r.Pass(t.Context()); err != nil || got < 2*kinds {
			t.Errorf("pass %d: got %d lanes, %v, want at least %d", n+1, got, err, 2*kinds)
		}
		r.Wait()
	}
}

// TestBacklogIsRead: the steps at the end of a backlog become due. A bounded number of passes tries
// all of them, and the metrics count the whole backlog.
func TestBacklogIsRead(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	series := scraped(s)
	mustHaveBacklog(t, s, s.Tenant, 4200, time.Hour)
	s.MustExec(t, `UPDATE step_attempts SET next_at = begun_at WHERE kind <> 'reversal' AND object_id > 4100
		OR kind = 'reversal' AND object_id IN (SELECT id FROM reversals WHERE transaction_id > 4100)`)
	s.Acquirer.Before = func(context.Context, coretest.Call) error { return errForGood }
	s.Clock.Advance(time.Second)
	r := s.Engine.NewRecovery()
	r.Serve()
	for range 8 {
		if _, err := r.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Wait()
	}
	wantNumber(t, s, "kinds with an attempt", "SELECT COUNT(DISTINCT kind) FROM step_attempts WHERE attempts > 9", 4)
	lines := series()
	for _, step := range []string{"authorize", "capture", "refund", "reversal"} {
		if want := `open_steps{step="` + step + `"} 4200`; !strings.Contains(lines, want) {
			t.Errorf("metrics: got no %s", want)
		}
	}
}

// TestFailuresDelayNoOtherTenant: the acquirer fails at all steps of one merchant for so long that
// recovery pauses. The next pass still tries another merchant's step.
func TestFailuresDelayNoOtherTenant(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	mustHaveBacklog(t, s, s.Tenant, 400, 0)
	s.Tenant = mustMerchant(t, s)
	r := s.Engine.NewRecovery()
	r.Serve()
	for n := range 3 {
		s.Acquirer.Before = func(context.Context, coretest.Call) error { return errForGood }
		rounds(t, s, r, 4*time.Second)
		heal(s)
		lose(s, coretest.Authorize, true, nil)
		if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 504 {
			t.Fatalf("pay: got %d, %v, want 504", a.Status, err)
		}
		heal(s)
		calls := s.Acquirer.Calls(coretest.Authorize)
		reference := calls[len(calls)-1].Reference
		s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
			if c.Reference == reference {
				return nil
			}
			return errForGood
		}
		s.Clock.Advance(250 * time.Millisecond)
		rounds(t, s, r, time.Millisecond)
		if got := capturedOf(t, s, s.Tenant); got != int64(n+1) {
			t.Errorf("after a pass: got %d captured, want %d", got, n+1)
		}
	}
}
