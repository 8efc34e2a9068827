package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// mustCaptureEach makes a payment that is captured by several amounts.
func mustCaptureEach(t *testing.T, s *coretest.Service, amounts ...int64) (txn int64, captures []*payment.Capture) {
	t.Helper()
	sum := int64(0)
	for _, amount := range amounts {
		sum += amount
	}
	txn = mustPayByCard(t, s, sum, false)
	for _, amount := range amounts {
		captures = append(captures, mustCaptureOf(t, s, txn, amount))
	}
	return txn, captures
}

// TestRefundsAreOfOneCapture: refunds that name no capture get the one with the smallest rest that
// is large enough, the oldest of equal ones. If none is, the refund is refused, and moves nothing.
func TestRefundsAreOfOneCapture(t *testing.T) {
	t.Parallel()
	const refused = -1
	for name, c := range map[string]struct {
		captures []int64
		refunds  [][2]int64 // an amount, 0 for the rest, and the place of the capture
	}{
		"equal ones":           {[]int64{50, 50}, [][2]int64{{50, 0}, {50, 1}}},
		"the exact rest first": {[]int64{100, 30}, [][2]int64{{30, 1}, {100, 0}}},
		"one more":             {[]int64{30, 50}, [][2]int64{{51, refused}, {31, 1}, {30, 0}, {19, 1}}},
		"by parts":             {[]int64{50, 50}, [][2]int64{{1, 0}, {51, refused}, {50, 1}, {49, 0}}},
		"the whole":            {[]int64{30, 50}, [][2]int64{{80, refused}, {0, refused}, {50, 1}, {0, 0}}},
		"a sale's worth":       {[]int64{80}, [][2]int64{{79, 0}, {0, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			txn, captures := mustCaptureEach(t, s, c.captures...)
			given := make([]int64, len(captures))
			for _, f := range c.refunds {
				a, err := s.Engine.Refund(t.Context(), s.Request(""), txn, 0, f[0], []byte("{}"))
				if f[1] == refused {
					wantNoSingle(t, a, err, captures, given)
					continue
				}
				if err != nil || a.Status != 201 {
					t.Fatalf("refund of %d: got %d %s, %v", f[0], a.Status, a.Body, err)
				}
				got := a.Object.(*payment.Refund)
				given[f[1]] += got.Amount
				sent := s.Acquirer.Follows()[len(s.Acquirer.Follows())-1]
				want := engine.StepName(payment.StepID{Kind: payment.CaptureStep, ID: captures[f[1]].ID})
				if got.Capture != captures[f[1]].ID || len(sent.Captures) != 1 || sent.Captures[0].Reference != want {
					t.Errorf("refund of %d: got it of %d, sent %+v, want it of %s", f[0], got.Capture, sent.Captures, want)
				}
			}
			wantCapturesRefunded(t, s, captures, given)
		})
	}
}

// wantNoSingle checks the refusal of a refund for which no capture has enough left. It must show
// the rest of each capture.
func wantNoSingle(t *testing.T, a engine.Result, err error, captures []*payment.Capture, given []int64) {
	t.Helper()
	var body v1.ErrorBody
	if err != nil || json.Unmarshal(a.Body, &body) != nil || body.Error.Code != payment.AmountExceedsRefundable {
		t.Errorf("got %d %s, %v, want a refusal", a.Status, a.Body, err)
	}
	for i, c := range captures {
		want := fmt.Sprintf("%d of %s", c.Amount-given[i], id.Format(id.Capture, c.ID))
		if given[i] < c.Amount && !strings.Contains(body.Error.Message, want) {
			t.Errorf("got %q, want it to show %s", body.Error.Message, want)
		}
	}
}

// wantCapturesRefunded checks the refunded amounts of captures. None is reserved any more.
func wantCapturesRefunded(t *testing.T, s *coretest.Service, captures []*payment.Capture, given []int64) {
	t.Helper()
	for i, c := range captures {
		got, err := s.DB.Capture(t.Context(), s.Tenant, c.ID)
		if err != nil || got.Refunded != given[i] || got.RefundPending != 0 {
			t.Errorf("capture %d: got %+v, %v, want %d refunded", i, got, err, given[i])
		}
	}
	wantSettledBooks(t, s)
}

// TestManyRestsAreNotAllShown: the refusal of a refund shows ten captures at most.
func TestManyRestsAreNotAllShown(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{10: " 1 of cap_", 11: ", and amounts of 1 more."} {
		s := coretest.OpenLive(t)
		amounts := make([]int64, n)
		for i := range amounts {
			amounts[i] = 1
		}
		txn, _ := mustCaptureEach(t, s, amounts...)
		a, err := s.Engine.Refund(t.Context(), s.Request(""), txn, 0, 2, []byte("{}"))
		var body v1.ErrorBody
		if err != nil || json.Unmarshal(a.Body, &body) != nil || strings.Count(body.Error.Message, " of cap_") != 10 ||
			!strings.Contains(body.Error.Message, want) {
			t.Errorf("of %d captures: got %d %s, %v, want 10 shown", n, a.Status, a.Body, err)
		}
	}
}

// TestRecoveryRefundsTheSameCapture: the response to a refund is lost. Later refunds change the
// rests of the captures, and recovery still repeats the refund of the first one's capture.
func TestRecoveryRefundsTheSameCapture(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]bool{"the request is lost": false, "the response is lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			txn, captures := mustCaptureEach(t, s, 50, 60)
			lose(s, coretest.Refund, after, nil)
			if a, err := s.Engine.Refund(t.Context(), s.Request("k"), txn, 0, 50, []byte("{}")); err != nil || a.Status != 504 {
				t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
			}
			heal(s)
			if a, err := s.Engine.Refund(t.Context(), s.Request(""), txn, 0, 61, []byte("{}")); err != nil || a.Status != 400 {
				t.Errorf("more than is left: got %d %s, %v, want 400", a.Status, a.Body, err)
			}
			if got := mustRefundOf(t, s, txn, 0); got.Amount != 60 || got.Capture != captures[1].ID {
				t.Errorf("the rest: got %d of %d, want the second capture", got.Amount, got.Capture)
			}
			if open := s.Recover(t); open != 0 {
				t.Fatalf("%d stay open", open)
			}
			follows := s.Acquirer.Follows()
			lost, repeated := follows[2], follows[len(follows)-1]
			if !repeated.Again || len(repeated.Captures) != 1 || repeated.Captures[0] != lost.Captures[0] {
				t.Errorf("got %+v, want a repetition of %+v", repeated, lost)
			}
			wantCapturesRefunded(t, s, captures, []int64{50, 60})
			if got := s.Acquirer.Moved(coretest.Refund); got != 110 {
				t.Errorf("refunded: got %d, want 110", got)
			}
		})
	}
}

// TestDeclinedRefundFreesItsCapture: a refund that fails leaves its amount to another refund of the
// same capture.
func TestDeclinedRefundFreesItsCapture(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	txn, captures := mustCaptureEach(t, s, 50, 60)
	s.Acquirer.Decide = func(coretest.Call) string { return "generic_decline" }
	if a, err := s.Engine.Refund(t.Context(), s.Request(""), txn, 0, 50, []byte("{}")); err != nil || a.Status != 402 {
		t.Fatalf("got %d %s, %v, want 402", a.Status, a.Body, err)
	}
	heal(s)
	if got := mustRefundOf(t, s, txn, 50); got.Capture != captures[0].ID {
		t.Errorf("got it of %d, want the first capture", got.Capture)
	}
	wantCapturesRefunded(t, s, captures, []int64{50, 0})
}

// TestUnnamedRefundsAtOnce: of three concurrent refunds of half a payment that was captured by
// halves, each capture gets one, and the third is refused.
func TestUnnamedRefundsAtOnce(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	race{prepare: func(ctx context.Context, _ int) (contest, error) {
		txn, capture, err := capturedTwice(ctx, s)
		refund := func(ctx context.Context) (engine.Result, error) {
			return s.Engine.Refund(ctx, s.Request(""), txn, 0, 100, []byte("{}"))
		}
		return contest{[]action{refund, refund, refund}, []int64{txn, capture}}, err
	}, after: func(objects []int64) string {
		c, err := s.DB.Capture(t.Context(), s.Tenant, objects[1])
		if err != nil || c.Refunded != 100 || c.RefundPending != 0 {
			t.Errorf("got %+v, %v, want the capture refunded", c, err)
		}
		txn, err := s.DB.Transaction(t.Context(), s.Tenant, objects[0])
		if err != nil || txn.Refunded != 200 {
			t.Errorf("got %+v, %v, want both captures refunded", txn, err)
		}
		return ""
	}}.run(t)
	if got, want := s.Acquirer.Moved(coretest.Refund), int64(200*raceRounds); got != want {
		t.Errorf("moved: got %d, want %d", got, want)
	}
	wantSettledBooks(t, s)
}

// TestLateRefundOfACaptureThatIsGivenBack: a refund is closed without effect, its capture is given
// back by another one, and then the first one appears. It does not fit any more, although another
// capture has the amount left: it is released.
func TestLateRefundOfACaptureThatIsGivenBack(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	txn, captures := mustCaptureEach(t, s, 50, 60)
	s.Acquirer.Proves = true
	var second *payment.Refund
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		if c.Verb == coretest.Refund {
			s.Acquirer.Before = nil
			s.Recover(t)                         //nolint:contextcheck // it is the test's
			second = mustRefundOf(t, s, txn, 50) //nolint:contextcheck // it is the test's
		}
		return nil
	}
	if _, err := s.Engine.Refund(t.Context(), s.Request("k"), txn, 0, 50, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	lookUntilTheEnd(t, s)
	if second == nil || second.Capture != captures[0].ID {
		t.Fatalf("got %+v, want a refund of the first capture", second)
	}
	wantCapturesRefunded(t, s, captures, []int64{50, 0})
	last := s.Acquirer.Follows()[len(s.Acquirer.Follows())-1]
	if last.Original.Kind != acquirer.Refund || last.Original.Amount != 50 {
		t.Errorf("got %+v, want the release of the late refund", last)
	}
}
