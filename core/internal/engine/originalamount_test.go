package engine_test

import (
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// partStep takes a later step of a payment. Kind is of its original.
type partStep struct {
	kind acquirer.Kind
	take func(*testing.T, *coretest.Service)
}

// ofAPart are later steps of payments of which 40 were approved.
func ofAPart() map[string]partStep {
	return map[string]partStep{
		"a capture": {acquirer.Authorization, func(t *testing.T, s *coretest.Service) {
			t.Helper()
			payPart(t, s, false)
			mustCaptureOf(t, s, MustTransaction(t, s).ID, 10)
		}},
		"a refund": {acquirer.Sale, func(t *testing.T, s *coretest.Service) {
			t.Helper()
			payPart(t, s, true)
			mustRefundOf(t, s, MustTransaction(t, s).ID, 10)
		}},
		"a void": {acquirer.Sale, func(t *testing.T, s *coretest.Service) {
			t.Helper()
			payPart(t, s, true)
			a, err := s.Engine.Void(t.Context(), s.Request(""), MustTransaction(t, s).ID, nil)
			if err != nil || a.Status != 200 {
				t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
			}
		}},
		"the release of an unwanted part": {acquirer.Sale, func(t *testing.T, s *coretest.Service) {
			t.Helper()
			if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 402 {
				t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
			}
		}},
		"the refund of a late part": {acquirer.Sale, func(t *testing.T, s *coretest.Service) {
			t.Helper()
			lose(s, coretest.Authorize, false, nil)
			if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 504 {
				t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
			}
			heal(s)
			s.Recover(t)
			approving(s, 40)
			s.Acquirer.Arrive(s.Acquirer.Payments()[0])
			refusesVoids(s)
			lookUntilTheEnd(t, s)
			if got := s.Acquirer.Moved(coretest.Refund); got != 40 {
				t.Errorf("refunded: got %d, want 40", got)
			}
		}},
	}
}

// TestAmountOfThePartialOriginal: the acquirer approves 40 of 100. Each later step names an
// original of 40. So a connector can compare the rest of it at the acquirer with that amount.
func TestAmountOfThePartialOriginal(t *testing.T) {
	t.Parallel()
	for name, c := range ofAPart() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			approving(s, 40)
			c.take(t, s)
			follows := s.Acquirer.Follows()
			for _, r := range follows {
				if o := r.Original; o.ID != "" && (o.Kind != c.kind || o.Amount != 40) {
					t.Errorf("got a step of the original %+v, want a %s of 40", o, c.kind)
				}
			}
			if last := follows[len(follows)-1].Original; last.ID == "" {
				t.Errorf("got the original %+v, want it with its id", last)
			}
		})
	}
}

// payPart makes a payment of 100 that accepts less.
func payPart(t *testing.T, s *coretest.Service, capture bool) {
	t.Helper()
	if a, err := s.PayPart(t.Context(), s.Request(""), 100, capture); err != nil || a.Status != 201 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
}

// TestLastCaptureIsFinal: the capture that takes the exact rest of the approved amount is the last
// one, so the acquirer gets it as final. One minor unit less leaves a rest for another capture.
func TestLastCaptureIsFinal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		amounts []int64 // of captures that are not final in v1; 0 for the rest
		want    []bool
	}{
		"the whole":         {[]int64{40}, []bool{true}},
		"by default":        {[]int64{0}, []bool{true}},
		"one less":          {[]int64{39}, []bool{false}},
		"one less, the one": {[]int64{39, 1}, []bool{false, true}},
		"three":             {[]int64{20, 5, 0}, []bool{false, false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			approving(s, 40)
			payPart(t, s, false)
			for _, amount := range c.amounts {
				mustCaptureOf(t, s, MustTransaction(t, s).ID, amount)
			}
			for i, r := range s.Acquirer.Follows() {
				if r.Final != c.want[i] || len(r.Captures) != i {
					t.Errorf("capture %d: got final %t after %d captures, want %t", i+1, r.Final, len(r.Captures), c.want[i])
				}
			}
		})
	}
}

// TestLostLastCaptureIsRepeatedAsFinal: recovery repeats a capture with the values of its first
// attempt.
func TestLostLastCaptureIsRepeatedAsFinal(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	txn := mustPayByCard(t, s, 100, false)
	mustCaptureOf(t, s, txn, 60)
	lose(s, coretest.Capture, true, nil)
	if a, err := s.Engine.Capture(t.Context(), s.Request("k"), txn, 40, false, nil); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	heal(s)
	s.Recover(t)
	follows := s.Acquirer.Follows()
	if len(follows) != 3 {
		t.Fatalf("got %+v, want three requests", follows)
	}
	for _, r := range follows[1:] {
		if !r.Final || len(r.Captures) != 1 || r.Captures[0].Amount != 60 {
			t.Errorf("got %+v, want a final capture after the one of 60", r)
		}
	}
}
