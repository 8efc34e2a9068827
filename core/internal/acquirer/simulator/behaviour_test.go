package simulator_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/simulator"
)

// TestBehaviour runs on synthetic time, in which a delay costs nothing and is exact.
func TestBehaviour(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, paymentMethod string
		deadline            time.Duration // of the caller
		wantErr             error
		wantAfter           time.Duration
		wantEffect          bool
	}{
		{"immediately", "pm_card_visa", time.Hour, nil, 0, true},
		{"slow", "pm_card_slow", time.Hour, nil, 5 * time.Second, true},
		{"slow, caller in a hurry", "pm_card_slow", 3 * time.Second, acquirer.ErrUnknown, 3 * time.Second, false},
		{"timeout before", "pm_card_timeout_before_effect", 2 * time.Second, acquirer.ErrUnknown, 2 * time.Second, false},
		{"timeout before, patient caller", "pm_card_timeout_before_effect", time.Hour, acquirer.ErrUnknown, 30 * time.Second, false},
		{"timeout after", "pm_card_timeout_after_effect", 2 * time.Second, acquirer.ErrUnknown, 2 * time.Second, true},
		{"timeout after, patient caller", "pm_card_timeout_after_effect", time.Hour, acquirer.ErrUnknown, 30 * time.Second, true},
		{"late", "pm_card_late_approval", 2 * time.Second, acquirer.ErrUnknown, 2 * time.Second, false},
		{"late, patient caller", "pm_card_late_approval", time.Hour, acquirer.ErrUnknown, 30 * time.Second, false},
		{"unavailable", "pm_card_unavailable", time.Hour, acquirer.ErrUnavailable, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := mustOpen(t, simulator.Config{})
				ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
				defer cancel()
				r := request(t, s, "txn_1", c.paymentMethod)
				start := time.Now() //nolint:forbidigo // the test measures the time of the bubble
				response, err := s.Authorize(ctx, r)
				if got := time.Since(start); !errors.Is(err, c.wantErr) || got != c.wantAfter {
					t.Errorf("got %v after %v, want %v after %v", err, got, c.wantErr, c.wantAfter)
				}
				if err != nil && response != (acquirer.Response{}) {
					t.Errorf("got %+v with an error, want nothing", response)
				}
				found, err := s.Inquire(t.Context(), acquirer.Sent{Reference: "txn_1"})
				if got := err == nil && found.Approved; got != c.wantEffect {
					t.Errorf("inquire: got %+v, %v, want effect %v", found, err, c.wantEffect)
				}
				if !c.wantEffect {
					return
				}
				start = time.Now() //nolint:forbidigo // as above
				again, err := s.Authorize(t.Context(), r)
				if err != nil || again != found || time.Since(start) != 0 {
					t.Errorf("again: got %+v, %v, want %+v immediately", again, err, found)
				}
			})
		})
	}
}

func TestBehaviour_callerGone(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, simulator.Config{})
	r := request(t, s, "txn_1", "pm_card_visa")
	f := acquirer.Follow{Reference: "cap_1", Original: acquirer.Sent{Reference: "txn_1"}, Amount: 1999}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Authorize(gone, r); !errors.Is(err, acquirer.ErrUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("authorize: got %v, want %v and why", err, acquirer.ErrUnknown)
	}
	if _, err := s.Capture(gone, f); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("capture: got %v, want %v", err, acquirer.ErrUnknown)
	}
	if _, err := s.Inquire(gone, acquirer.Sent{Reference: "txn_1"}); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("inquire: got %v, want %v", err, acquirer.ErrUnknown)
	}
	if _, err := s.Inquire(t.Context(), acquirer.Sent{Reference: "txn_1"}); !errors.Is(err, acquirer.ErrNotFound) {
		t.Errorf("inquire afterwards: got %v, want %v", err, acquirer.ErrNotFound)
	}
}
