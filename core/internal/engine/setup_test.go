package engine_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// step is one use case with an acquirer call, taken on a transaction of 100 that is ready for it.
type step struct {
	name     string
	verb     coretest.Verb
	capture  bool // whether the transaction it needs, or makes, is captured
	makes    bool // it makes the transaction
	take     takeFunc
	success  int // HTTP status
	status   payment.Status
	captured int64
	refunded int64
	attempt  int64 // of a confirmation, from 1; 0 for all else
}

// authorizes reports whether the step is the payment itself. If the acquirer does not have it, it
// is closed and not sent again.
func (st step) authorizes() bool { return st.verb == coretest.Authorize }

func steps() []step {
	pay := func(capture bool) takeFunc {
		return func(ctx context.Context, s *coretest.Service, r engine.Request, _ int64) (engine.Result, error) {
			return s.Pay(ctx, r, 100, capture)
		}
	}
	confirm := func(ctx context.Context, s *coretest.Service, r engine.Request, txn int64) (engine.Result, error) {
		return s.Confirm(ctx, r, txn)
	}
	capture := func(final bool) takeFunc {
		return func(ctx context.Context, s *coretest.Service, r engine.Request, txn int64) (engine.Result, error) {
			return s.Engine.Capture(ctx, r, txn, 40, final, nil)
		}
	}
	void := func(ctx context.Context, s *coretest.Service, r engine.Request, txn int64) (engine.Result, error) {
		return s.Engine.Void(ctx, r, txn, nil)
	}
	refund := func(ctx context.Context, s *coretest.Service, r engine.Request, txn int64) (engine.Result, error) {
		return s.Engine.Refund(ctx, r, txn, 0, 60, []byte("{}"))
	}
	return []step{
		{"authorize", coretest.Authorize, false, true, pay(false), 201, payment.Authorized, 0, 0, 0},
		{"authorize and capture", coretest.Authorize, true, true, pay(true), 201, payment.Captured, 100, 0, 0},
		{"capture", coretest.Capture, false, false, capture(false), 201, payment.PartiallyCaptured, 40, 0, 0},
		{"final capture", coretest.Capture, false, false, capture(true), 201, payment.Captured, 40, 0, 0},
		{"void", coretest.Void, true, false, void, 200, payment.Voided, 0, 0, 0},
		{"refund", coretest.Refund, true, false, refund, 201, payment.Captured, 100, 60, 0},
		{"confirm", coretest.Authorize, true, false, confirm, 200, payment.Captured, 100, 0, 1},
		{"confirm for a later capture", coretest.Authorize, false, false, confirm, 200, payment.Authorized, 0, 0, 1},
		{"confirm once more", coretest.Authorize, true, false, confirm, 200, payment.Captured, 100, 0, 2},
	}
}

// modes returns the functions that open a service for a merchant, by its mode.
func modes() map[string]func(testing.TB) *coretest.Service {
	return map[string]func(testing.TB) *coretest.Service{"test": coretest.Open, "live": coretest.OpenLive}
}

// takeFunc takes a step on a transaction, 0 for a step that makes it.
type takeFunc func(ctx context.Context, s *coretest.Service, r engine.Request, txn int64) (engine.Result, error)

// followUpSteps returns the steps on a transaction that exists: captures, voids and refunds.
func followUpSteps() []step {
	return slices.DeleteFunc(steps(), step.authorizes)
}

// mustLoseOutcome makes the transaction that the step needs and takes the step under the key "k".
// The acquirer's response is lost, before or after the effect. The acquirer works again afterwards.
func (st step) mustLoseOutcome(t *testing.T, s *coretest.Service, effect bool) {
	t.Helper()
	txn := st.MustPrepare(t, s)
	lose(s, st.verb, effect, nil)
	if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != http.StatusGatewayTimeout {
		t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	heal(s)
}

// moves returns the amount that the step moves at the acquirer, in minor units.
func (st step) moves() int64 {
	if st.verb == coretest.Capture {
		return 40
	}
	if st.verb == coretest.Refund {
		return 60
	}
	return 100
}

// MustPrepare makes the transaction a step needs and returns its number, 0 for a step that makes
// it.
func (st step) MustPrepare(t *testing.T, s *coretest.Service) int64 {
	t.Helper()
	if st.makes {
		return 0
	}
	if st.attempt > 0 {
		return st.mustWait(t, s)
	}
	a, err := s.Pay(t.Context(), s.Request(""), 100, st.capture)
	if err != nil || a.Status != http.StatusCreated {
		t.Fatalf("prepare: %d %s, %v", a.Status, a.Body, err)
	}
	return s.Number(t, "SELECT id FROM transactions")
}

// mustWait makes the transaction that waits for the step's attempt to confirm it.
func (st step) mustWait(t *testing.T, s *coretest.Service) int64 {
	t.Helper()
	if a, err := s.Prepare(t.Context(), s.Request(""), 100, st.capture); err != nil || a.Status != http.StatusCreated {
		t.Fatalf("prepare: %d %s, %v", a.Status, a.Body, err)
	}
	txn := s.Number(t, "SELECT id FROM transactions")
	s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
	for range st.attempt - 1 {
		if _, err := s.Confirm(t.Context(), s.Request(""), txn); !errors.Is(err, engine.ErrAcquirerUnavailable) {
			t.Fatalf("an earlier attempt: got %v", err)
		}
	}
	s.Acquirer.Before = nil
	return txn
}

// MustTransaction returns the only transaction of the service.
func MustTransaction(t *testing.T, s *coretest.Service) *payment.Transaction {
	t.Helper()
	got, err := s.DB.Transaction(t.Context(), s.Tenant, s.Number(t, "SELECT id FROM transactions"))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// wantDone checks that the step took effect once, in the store and at the acquirer.
func (st step) wantDone(t *testing.T, s *coretest.Service) {
	t.Helper()
	got := MustTransaction(t, s)
	if got.Status != st.status || got.Captured != st.captured || got.Refunded != st.refunded {
		t.Errorf("got %s captured %d refunded %d, want %s %d %d", got.Status, got.Captured, got.Refunded, st.status, st.captured, st.refunded)
	}
	if got, want := s.Acquirer.Moved(st.verb), st.moves(); got != want {
		t.Errorf("moved at the acquirer: got %d, want %d", got, want)
	}
	wantSettledBooks(t, s)
}

// wantUndone checks that the step did not happen.
func (st step) wantUndone(t *testing.T, s *coretest.Service) {
	t.Helper()
	wantSettledBooks(t, s)
	if st.makes {
		if got := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE status <> 'failed'"); got != 0 {
			t.Errorf("got %d transactions, want none", got)
		}
		return
	}
	before, captured, version := payment.Authorized, int64(0), int64(1)
	switch {
	case st.attempt > 0:
		before, version = payment.RequiresConfirmation, 0
	case st.capture:
		before, captured = payment.Captured, 100
	}
	got := MustTransaction(t, s)
	if got.Status != before || got.Captured != captured || got.Refunded != 0 || got.Version != version {
		t.Errorf("got %s captured %d refunded %d version %d, want it as before", got.Status, got.Captured, got.Refunded, got.Version)
	}
}

// wantSettledBooks checks the rules for a store without open steps. No step is pending, and no key
// is claimed without a response. Every version of every transaction has exactly one event.
func wantSettledBooks(t *testing.T, s *coretest.Service) {
	t.Helper()
	for what, query := range map[string]string{
		"open payments":         `SELECT COUNT(*) FROM transactions WHERE status IN ('processing', 'unknown') OR operation <> '' OR claim <> 0`,
		"pending amounts":       `SELECT COUNT(*) FROM transactions WHERE amount_capture_pending + amount_refund_pending <> 0`,
		"pending steps":         `SELECT (SELECT COUNT(*) FROM captures WHERE state = 'pending') + (SELECT COUNT(*) FROM refunds WHERE state = 'pending')`,
		"keys without response": `SELECT COUNT(*) FROM idempotency_keys WHERE status = 0`,
		"versions without their one event": `SELECT COUNT(*) FROM transactions t
			LEFT JOIN (SELECT object_id, COUNT(*) AS all_of_it, COUNT(DISTINCT sequence) AS each, MIN(sequence) AS first, MAX(sequence) AS last
				FROM events GROUP BY object_id) e ON e.object_id = t.id
			WHERE version <> COALESCE(all_of_it, 0) OR version <> COALESCE(each, 0) OR version > 0 AND (first <> 1 OR last <> version)`,
	} {
		if got := s.Number(t, query); got != 0 {
			t.Errorf("%s: got %d, want none", what, got)
		}
	}
}

// lose makes the acquirer lose the responses to a verb, before or after the effect, and runs during
// in that moment.
func lose(s *coretest.Service, v coretest.Verb, after bool, during func()) {
	hook := func(_ context.Context, c coretest.Call) error {
		if c.Verb != v {
			return nil
		}
		if during != nil {
			during()
		}
		return acquirer.ErrUnknown
	}
	if after {
		s.Acquirer.After = hook
	} else {
		s.Acquirer.Before = hook
	}
}

// heal takes all hooks off.
func heal(s *coretest.Service) {
	s.Acquirer.Before, s.Acquirer.After, s.Acquirer.Decide, s.Acquirer.Grant, s.Acquirer.Report = nil, nil, nil, nil, nil
}
