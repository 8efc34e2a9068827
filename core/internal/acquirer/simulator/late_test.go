package simulator_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/simulator"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestLate follows a request that arrives a minute after it was sent. It is not found before, and a
// void before does not stop it. With restarted, the process dies between any two requests.
func TestLate(t *testing.T) {
	t.Parallel()
	for _, restarted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := clock.NewFake(now)
			cfg := simulator.Config{Clock: c, Journal: filepath.Join(t.TempDir(), "journal")}
			s := mustOpen(t, cfg)
			again := func() *simulator.Simulator {
				if restarted {
					s = mustOpen(t, cfg)
				}
				return s
			}
			r := request(t, s, "txn_1", "pm_card_late_approval")
			authorize := func(patience time.Duration) error {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				_, err := again().Authorize(ctx, r)
				return err
			}
			for _, patience := range []time.Duration{time.Second, time.Hour} {
				if err := authorize(patience); !errors.Is(err, acquirer.ErrUnknown) {
					t.Errorf("got %v, want %v", err, acquirer.ErrUnknown)
				}
			}
			inquire := func() (acquirer.Response, error) {
				return again().Inquire(t.Context(), acquirer.Sent{Reference: "txn_1"})
			}
			if _, err := inquire(); !errors.Is(err, acquirer.ErrNotFound) {
				t.Errorf("before it arrives: got %v, want %v", err, acquirer.ErrNotFound)
			}
			if a := mustFollow(t, again().Void, "void_1", "txn_1", 1999); !a.Approved {
				t.Errorf("void before it arrives: got %+v", a)
			}
			c.Advance(time.Minute - time.Millisecond)
			if _, err := inquire(); !errors.Is(err, acquirer.ErrNotFound) {
				t.Errorf("a millisecond before: got %v, want %v", err, acquirer.ErrNotFound)
			}
			c.Advance(time.Millisecond)
			if a, err := inquire(); err != nil || !a.Approved || a.Released || a.Amount != 1999 {
				t.Errorf("once it arrived: got %+v, %v", a, err)
			}
			if a, err := again().Authorize(t.Context(), r); err != nil || !a.Approved {
				t.Errorf("the same request: got %+v, %v", a, err)
			}
			if a := mustFollow(t, again().Void, "void_2", "txn_1", 1999); !a.Approved {
				t.Errorf("void: got %+v", a)
			}
			if a, err := inquire(); err != nil || !a.Approved || !a.Released {
				t.Errorf("once it was voided: got %+v, %v", a, err)
			}
			if a := mustFollow(t, again().Capture, "cap_1", "txn_1", 1999); a.Approved {
				t.Errorf("capture of what was voided: got %+v", a)
			}
		})
	}
}
