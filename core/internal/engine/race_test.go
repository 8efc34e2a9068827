package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// The steps that race.
func refunding(s *coretest.Service, txn, amount int64) action {
	return func(ctx context.Context) (engine.Result, error) {
		return s.Engine.Refund(ctx, s.Request(""), txn, 0, amount, []byte("{}"))
	}
}

func capturing(s *coretest.Service, txn, amount int64, final bool) action {
	return func(ctx context.Context) (engine.Result, error) {
		return s.Engine.Capture(ctx, s.Request(""), txn, amount, final, nil)
	}
}

func voiding(s *coretest.Service, txn int64) action {
	return func(ctx context.Context) (engine.Result, error) { return s.Engine.Void(ctx, s.Request(""), txn, nil) }
}

// TestRefundsAtOnce: of many concurrent refunds of 60 %, exactly one succeeds.
func TestRefundsAtOnce(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	got := race{after: books(t, s), prepare: func(ctx context.Context, _ int) (contest, error) {
		txn, err := paid(ctx, s, 100, true)
		refund := refunding(s, txn, 60)
		return contest{[]action{refund, refund, refund, refund}, []int64{txn}}, err
	}}.run(t)
	const after = ": captured, 100 captured, 60 refunded, 0 settled"
	wantOutcomes(t, got, []string{"201 400 400 400" + after, "400 400 400 201" + after}, "400 201 400 400"+after, "400 400 201 400"+after)
	if got, want := s.Acquirer.Moved(coretest.Refund), int64(60*raceRounds); got != want {
		t.Errorf("moved: got %d, want %d", got, want)
	}
	wantSettledBooks(t, s)
}

// TestRefundsOfOneCaptureAtOnce: of several concurrent refunds of 60 % of one capture, exactly one
// succeeds, although the transaction has more money.
func TestRefundsOfOneCaptureAtOnce(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	got := race{prepare: func(ctx context.Context, _ int) (contest, error) {
		txn, capture, err := capturedTwice(ctx, s)
		refund := func(ctx context.Context) (engine.Result, error) {
			return s.Engine.Refund(ctx, s.Request(""), txn, capture, 60, []byte("{}"))
		}
		return contest{[]action{refund, refund, refund}, []int64{txn, capture}}, err
	}, after: func(objects []int64) string {
		c, err := s.DB.Capture(t.Context(), s.Tenant, objects[1])
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s, %d of the capture, %d pending", books(t, s)(objects), c.Refunded, c.RefundPending)
	}}.run(t)
	const after = ": captured, 200 captured, 60 refunded, 0 settled, 60 of the capture, 0 pending"
	wantOutcomes(t, got, []string{"201 400 400" + after, "400 400 201" + after}, "400 201 400"+after)
	wantSettledBooks(t, s)
}

// capturedTwice makes a payment of 200 that is captured by halves, and returns the second half too.
func capturedTwice(ctx context.Context, s *coretest.Service) (txn, capture int64, err error) {
	if txn, err = paid(ctx, s, 200, false); err != nil {
		return 0, 0, err
	}
	for range 2 {
		a, err := capturing(s, txn, 100, false)(ctx)
		if capture, err = made(id.Capture, a, err); err != nil {
			return 0, 0, err
		}
	}
	return txn, capture, nil
}

// TestCaptureAgainstVoid: a successful void ends the transaction, whether the capture came before
// it or was refused.
func TestCaptureAgainstVoid(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	got := race{after: books(t, s), prepare: func(ctx context.Context, _ int) (contest, error) {
		txn, err := paid(ctx, s, 100, false)
		return contest{[]action{capturing(s, txn, 100, true), voiding(s, txn)}, []int64{txn}}, err
	}}.run(t)
	wantOutcomes(t, got, []string{
		"201 409: captured, 100 captured, 0 refunded, 0 settled", "409 200: voided, 0 captured, 0 refunded, 0 settled",
	}, "201 200: voided, 0 captured, 0 refunded, 0 settled")
	wantSettledBooks(t, s)
}

// TestFinalAgainstPartialCapture: a final capture ends the transaction. Earlier captures count. A
// capture during another one is refused as in progress.
func TestFinalAgainstPartialCapture(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	got := race{after: books(t, s), prepare: func(ctx context.Context, _ int) (contest, error) {
		txn, err := paid(ctx, s, 100, false)
		return contest{[]action{capturing(s, txn, 40, true), capturing(s, txn, 50, false)}, []int64{txn}}, err
	}}.run(t)
	wantOutcomes(t, got, []string{
		"201 409: captured, 40 captured, 0 refunded, 0 settled", "409 201: partially_captured, 50 captured, 0 refunded, 0 settled",
	}, "201 201: captured, 90 captured, 0 refunded, 0 settled")
	wantSettledBooks(t, s)
}

// TestConfirmsAtOnce: of two concurrent confirmations, exactly one takes place.
func TestConfirmsAtOnce(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	got := race{after: books(t, s), prepare: func(ctx context.Context, _ int) (contest, error) {
		a, err := s.Prepare(ctx, s.Request(""), 100, true)
		txn, err := made(id.Transaction, a, err)
		confirm := func(ctx context.Context) (engine.Result, error) { return s.Confirm(ctx, s.Request(""), txn) }
		return contest{[]action{confirm, confirm}, []int64{txn}}, err
	}}.run(t)
	const after = ": captured, 100 captured, 0 refunded, 0 settled"
	wantOutcomes(t, got, []string{"200 409" + after, "409 200" + after})
	if got, want := s.Acquirer.Moved(coretest.Authorize), int64(100*raceRounds); got != want {
		t.Errorf("moved: got %d, want %d", got, want)
	}
	wantSettledBooks(t, s)
}

// TestSettlementAgainstVoid: one of them takes place, and the books agree with it.
func TestSettlementAgainstVoid(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	got := race{after: books(t, s), pass: s.Engine.SettleDue, prepare: func(ctx context.Context, _ int) (contest, error) {
		txn, err := paid(ctx, s, 100, true)
		return contest{[]action{voiding(s, txn)}, []int64{txn}}, err
	}}.runDaily(t, s)
	wantOutcomes(t, got, []string{"200: voided, 0 captured, 0 refunded, 0 settled", "409: captured, 100 captured, 0 refunded, 100 settled"})
	wantSettledBooks(t, s)
}

// runDaily is run, but a day ends between the preparation of a group and its races.
func (r race) runDaily(t *testing.T, s *coretest.Service) map[string]int {
	t.Helper()
	pass := r.pass
	r.pass = func(ctx context.Context) (int, error) {
		s.Clock.Advance(24 * time.Hour)
		return pass(ctx)
	}
	return r.run(t)
}

// TestSettlementAgainstRefund: both take place, whichever was first.
func TestSettlementAgainstRefund(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	got := race{pass: s.Engine.SettleDue, prepare: func(ctx context.Context, _ int) (contest, error) {
		txn, err := paid(ctx, s, 100, true)
		return contest{[]action{refunding(s, txn, 60)}, []int64{txn, s.IDs.Next()}}, err
	}, after: func(objects []int64) string {
		txn, since := objects[0], objects[1]
		first := s.Texts(t, `SELECT type FROM events WHERE id > ? AND (object_id = ? AND type = 'transaction.settled'
			OR type = 'refund.created' AND object_id = (SELECT id FROM refunds WHERE transaction_id = ?)) ORDER BY id LIMIT 1`, since, txn, txn)
		return fmt.Sprint(books(t, s)(objects), ", first ", first)
	}}.runDaily(t, s)
	const after = "201: captured, 100 captured, 60 refunded, 100 settled, first "
	wantOutcomes(t, got, []string{after + "[transaction.settled]", after + "[refund.created]"})
	if got, want := s.Acquirer.Moved(coretest.Refund), int64(60*raceRounds); got != want {
		t.Errorf("moved: got %d, want %d", got, want)
	}
	wantSettledBooks(t, s)
}

// TestVoidAgainstRefundAtSettlement: money goes back by a void or by a refund, never by both, at
// any time.
func TestVoidAgainstRefundAtSettlement(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	got := race{after: books(t, s), pass: s.Engine.SettleDue, prepare: func(ctx context.Context, _ int) (contest, error) {
		txn, err := paid(ctx, s, 100, true)
		return contest{[]action{voiding(s, txn), refunding(s, txn, 100)}, []int64{txn}}, err
	}}.runDaily(t, s)
	wantOutcomes(t, got, []string{
		"200 409: voided, 0 captured, 0 refunded, 0 settled", "409 201: captured, 100 captured, 100 refunded, 100 settled",
	})
	wantSettledBooks(t, s)
}

// TestCaptureAgainstExpiry: a successful capture counts. The rest of its authorization is released
// by this pass or the next.
func TestCaptureAgainstExpiry(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	got := race{after: books(t, s), pass: s.Engine.ExpireDue, prepare: func(ctx context.Context, i int) (contest, error) {
		txn, err := paid(ctx, s, 100, false)
		if err == nil {
			err = s.DB.Update(ctx, func(tx *store.Tx) error { return tx.SetExpiry(s.Tenant, txn, s.Clock.Now()) })
		}
		return contest{[]action{capturing(s, txn, []int64{100, 40}[i/2%2], false)}, []int64{txn}}, err
	}}.run(t)
	wantOutcomes(t, got, []string{
		"409: expired, 0 captured, 0 refunded, 0 settled", "201: captured, 100 captured, 0 refunded, 0 settled",
	}, "201: partially_captured, 40 captured, 0 refunded, 0 settled", "201: captured, 40 captured, 0 refunded, 0 settled")
	if _, err := s.Engine.ExpireDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE status IN ('authorized', 'partially_captured')"); got != 0 {
		t.Errorf("%d authorizations outlive their time", got)
	}
	wantSettledBooks(t, s)
}
