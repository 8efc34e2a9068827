package providera

import (
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// paymentStates are the states of a payment of 19.99, and the outcomes of inquiries about its
// capture, its void and its capture after another one.
var paymentStates = map[string]struct{ capture, void, second string }{
	"authorizedPendingCapture":  {"not found", "not found", impossible},
	"capturedPendingSettlement": {"approved 60410000101 1999", "not found", impossible},
	"settledSuccessfully":       {"approved 60410000101 1999", impossible, impossible},
	"voided":                    {impossible, "approved 60410000101 1999", impossible},
	"expired":                   {impossible, "approved 60410000101 1999", impossible},
	"FDSPendingReview":          {"undecided", "undecided", impossible},
	"couldNotVoid":              {"undecided", "undecided", impossible},
	"a new status":              {"undecided", "undecided", impossible},
}

// inquired returns the outcome of an inquiry in short.
func inquired(a acquirer.Response, err error) string {
	switch {
	case errors.Is(err, acquirer.ErrNotFound) && !errors.Is(err, acquirer.ErrUnknown):
		return "not found"
	case errors.Is(err, acquirer.ErrUndecided) && errors.Is(err, acquirer.ErrUnknown):
		return "undecided"
	}
	return inShort(a, err)
}

// TestInquireByPayment: the state of a payment is the outcome of its capture or void. The payment
// is found by its number or its invoice number. The inquiry sends no transaction.
func TestInquireByPayment(t *testing.T) {
	t.Parallel()
	for status, want := range paymentStates {
		for _, numbered := range []bool{true, false} {
			t.Run(status, func(t *testing.T) {
				t.Parallel()
				h, c := startHost(t)
				payment := paid(t, c, false)
				h.do(func() { h.made[0].status, h.made[0].taken = status, "19.99" })
				if !numbered {
					payment.ID = ""
				}
				other := acquirer.Sent{
					Kind: acquirer.Capture, Reference: "cap_1", ID: "60410000101", Amount: 500, Currency: "usd",
				}
				for _, q := range []struct {
					kind     acquirer.Kind
					captures []acquirer.Sent
					want     string
				}{
					{acquirer.Capture, nil, want.capture},
					{acquirer.Void, nil, want.void},
					{acquirer.Capture, []acquirer.Sent{other}, want.second},
				} {
					a, err := c.Inquire(t.Context(), acquirer.Sent{
						Kind: q.kind, Reference: "step", Amount: payment.Amount, Currency: payment.Currency,
						Follow: &acquirer.Follow{Original: payment, Captures: q.captures},
					})
					if got := inquired(a, err); got != q.want {
						t.Errorf("%s after %d captures: got %s (%v), want %s", q.kind, len(q.captures), got, err, q.want)
					}
				}
				h.do(func() {
					if h.sent[typeVoid]+h.sent[typeCapture] > 0 {
						t.Errorf("sent %v, want only inquiries", h.sent)
					}
				})
			})
		}
	}
}

// TestDropOfCapture: a capture that never arrived is dropped without a request. A capture that has
// arrived is left to the next inquiry: a void would release the whole payment.
func TestDropOfCapture(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"authorizedPendingCapture": "approved 60410000101 1999", "voided": "approved 60410000101 1999",
		"capturedPendingSettlement": "unknown", "settledSuccessfully": "unknown", "FDSPendingReview": "unknown",
	} {
		h, c := startHost(t)
		payment := paid(t, c, false)
		h.do(func() { h.made[0].status = status })
		a, err := c.Void(t.Context(), acquirer.Follow{
			Reference: "drop", Drop: true, Amount: payment.Amount, Currency: payment.Currency,
			Original: acquirer.Sent{
				Kind: acquirer.Capture, Reference: "cap_1", Amount: payment.Amount, Currency: payment.Currency,
				Follow: &acquirer.Follow{Original: payment},
			},
		})
		if got := inShort(a, err); got != want || h.sent[typeVoid] != 0 {
			t.Errorf("%s: got %s (%v), sent %d, want %s and nothing sent", status, got, err, h.sent[typeVoid], want)
		}
	}
}

// TestReleaseOfCaptureBesideAnother: the release of a capture voids no other capture of its
// payment.
func TestReleaseOfCaptureBesideAnother(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	payment := paid(t, c, false)
	h.do(func() { h.made[0].status = "capturedPendingSettlement" })
	a, err := c.Void(t.Context(), acquirer.Follow{
		Reference: "late", Amount: payment.Amount, Currency: payment.Currency,
		Original: acquirer.Sent{
			Kind: acquirer.Capture, Reference: "cap_1", Amount: payment.Amount, Currency: payment.Currency,
			Follow: &acquirer.Follow{Original: payment, Captures: []acquirer.Sent{{Kind: acquirer.Capture, Reference: "cap_2"}}},
		},
	})
	if err != nil || !a.Approved || h.sent[typeVoid] != 0 {
		t.Errorf("got %+v, %v, sent %d", a, err, h.sent[typeVoid])
	}
}
