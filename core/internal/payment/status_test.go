package payment_test

import (
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

func TestTransitions(t *testing.T) {
	t.Parallel()
	allowed := map[payment.Status]map[payment.Step]payment.Status{
		"requires_confirmation": {"confirm": "processing", "void": "canceled", "expire": "canceled"},
		"processing": {
			"withdraw": "requires_confirmation", "decline_try": "requires_confirmation",
			"approve": "authorized", "approve_capture": "captured", "decline": "declined", "fail": "failed", "lose": "unknown",
		},
		"unknown": {
			"approve": "authorized", "approve_capture": "captured",
			"decline": "declined", "fail": "failed",
		},
		"authorized": {
			"capture_part": "partially_captured", "capture_rest": "captured", "void": "voided",
			"expire": "expired",
		},
		"partially_captured": {
			"capture_part": "partially_captured", "capture_rest": "captured", "void": "voided",
			"expire": "captured",
		},
		"captured": {"void": "voided"},
	}
	if got, want := len(payment.Statuses())*len(payment.Steps()), 11*12; got != want {
		t.Fatalf("pairs: got %d, want %d", got, want)
	}
	for _, from := range payment.Statuses() {
		for _, step := range payment.Steps() {
			want, ok := allowed[from][step]
			got, err := from.Next(step)
			if (err == nil) != ok {
				t.Errorf("%s of %s: got %s, %v, want it allowed: %t", step, from, got, err, ok)
			}
			if !ok {
				want = from
			}
			if got != want {
				t.Errorf("%s of %s: got %s, want %s", step, from, got, want)
			}
		}
		if got, want := from.Open(), from == "processing" || from == "unknown"; got != want {
			t.Errorf("%s is open: got %t, want %t", from, got, want)
		}
	}
	if _, err := payment.Status("lent").Next(payment.Void); err == nil {
		t.Error("a status that does not exist has a next one")
	}
}

func TestEveryStatusCanBeReached(t *testing.T) {
	t.Parallel()
	reached := map[payment.Status]bool{payment.Processing: true} // where a payment begins, or else waits to be confirmed
	for range payment.Statuses() {
		for from := range reached {
			for _, step := range payment.Steps() {
				if next, err := from.Next(step); err == nil {
					reached[next] = true
				}
			}
		}
	}
	if got, want := len(reached), len(payment.Statuses()); got != want {
		t.Errorf("reached: got %v, want all %d", reached, want)
	}
}
