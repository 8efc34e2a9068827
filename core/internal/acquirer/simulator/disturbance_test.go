package simulator_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/acquirertest"
	"github.com/causeway-pay/causeway/core/internal/acquirer/simulator"
)

// disturbed opens a simulator that disturbs every request.
func disturbed(t *testing.T, entry string) *simulator.Simulator {
	t.Helper()
	text := string(simulator.Embedded()) + fmt.Sprintf("\ndisturbances:\n  - {%s}\n", entry)
	return mustOpen(t, simulator.Config{Catalogue: []byte(text)})
}

// TestDisturbances runs each disturbance on synthetic time, for a request that follows another as
// well as for the first.
func TestDisturbances(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		entry   string
		wantErr error
		effect  time.Duration // at most, from the response; -1 for none
	}{
		{"kind: slow, share: 1000, delay_ms: 500", nil, 0},
		{"kind: timeout_before, share: 1000, delay_ms: 500", acquirer.ErrUnknown, -1},
		{"kind: timeout_after, share: 1000, delay_ms: 500", acquirer.ErrUnknown, 0},
		{"kind: late, share: 1000, delay_ms: 500, effect_ms: 60000", acquirer.ErrUnknown, time.Minute},
		{"kind: unavailable, share: 1000", acquirer.ErrUnavailable, -1},
		{"kind: not_found, share: 1000", nil, 0},
	} {
		t.Run(c.entry, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := disturbed(t, c.entry)
				authorize := func(ctx context.Context) error {
					_, err := s.Authorize(ctx, request(t, s, "txn_1", "pm_card_visa"))
					return err
				}
				refund := func(ctx context.Context) error {
					_, err := s.Refund(ctx, acquirer.Follow{Reference: "re_1", Original: acquirer.Sent{Reference: "txn_1"}, Amount: 5, Currency: "usd"})
					return err
				}
				for reference, send := range map[string]func(context.Context) error{"txn_1": authorize, "re_1": refund} {
					start := time.Now() //nolint:forbidigo // the bubble's time is measured
					if err := send(t.Context()); !errors.Is(err, c.wantErr) {
						t.Errorf("%s: got %v, want %v", reference, err, c.wantErr)
					}
					if got := time.Since(start); got > 500*time.Millisecond {
						t.Errorf("%s: the response came after %v, want 500 ms at most", reference, got)
					}
					if c.effect > 0 && s.Known(reference) {
						t.Errorf("%s: a late effect took place immediately", reference)
					}
					time.Sleep(max(c.effect, 0))
					synctest.Wait()
					if got, want := s.Known(reference), c.effect >= 0; got != want {
						t.Errorf("%s: effect %t, want %t", reference, got, want)
					}
				}
			})
		})
	}
}

// TestConformance: the simulator returns ErrUnavailable for no request that has an effect then or
// later, under each disturbance.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) *simulator.Simulator{
		"undisturbed": func(t *testing.T) *simulator.Simulator {
			t.Helper()
			return mustOpen(t, simulator.Config{})
		},
		"closed": func(t *testing.T) *simulator.Simulator {
			t.Helper()
			s := mustOpen(t, simulator.Config{})
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			return s
		},
		"slow":           disturbing("kind: slow, share: 1000, delay_ms: 500"),
		"timeout before": disturbing("kind: timeout_before, share: 1000, delay_ms: 500"),
		"timeout after":  disturbing("kind: timeout_after, share: 1000, delay_ms: 500"),
		"late":           disturbing("kind: late, share: 1000, delay_ms: 500, effect_ms: 60000"),
		"unavailable":    disturbing("kind: unavailable, share: 1000"),
		"not found":      disturbing("kind: not_found, share: 1000"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := open(t)
				for _, text := range acquirertest.Misreports(t.Context(), acquirertest.Subject{
					Acquirer: s,
					Received: func(reference string) bool {
						time.Sleep(time.Minute) // a late request has its effect
						synctest.Wait()
						return s.Known(reference)
					},
				}) {
					t.Error(text)
				}
			})
		})
	}
}

// disturbing returns the function that opens a simulator with a disturbance.
func disturbing(entry string) func(t *testing.T) *simulator.Simulator {
	return func(t *testing.T) *simulator.Simulator {
		t.Helper()
		return disturbed(t, entry)
	}
}

// TestDisturbedInquiry: an inquiry may miss a request that took effect.
func TestDisturbedInquiry(t *testing.T) {
	t.Parallel()
	s := disturbed(t, "kind: not_found, share: 1000")
	if _, err := s.Authorize(t.Context(), request(t, s, "txn_1", "pm_card_visa")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Inquire(t.Context(), acquirer.Sent{Reference: "txn_1"}); !errors.Is(err, acquirer.ErrNotFound) {
		t.Errorf("got %v, want %v", err, acquirer.ErrNotFound)
	}
}

// TestDisturbanceShares: about the configured share of requests is disturbed, and without a share
// no request.
func TestDisturbanceShares(t *testing.T) {
	t.Parallel()
	const requests = 4000
	for share, want := range map[int][2]int{0: {0, 0}, 250: {700, 1300}} {
		s := mustOpen(t, simulator.Config{})
		if share > 0 {
			s = disturbed(t, fmt.Sprintf("kind: unavailable, share: %d", share))
		}
		got := 0
		for range requests {
			if _, err := s.Inquire(t.Context(), acquirer.Sent{Reference: "txn_1"}); errors.Is(err, acquirer.ErrUnavailable) {
				got++
			}
		}
		if got < want[0] || got > want[1] {
			t.Errorf("share %d: %d of %d requests were disturbed, want %d to %d", share, got, requests, want[0], want[1])
		}
	}
}

// TestCloseDropsLateEffects: a simulator that closes does not wait for an effect that is on its
// way.
func TestCloseDropsLateEffects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := disturbed(t, "kind: late, share: 1000, delay_ms: 1, effect_ms: 86400000")
		_, err := s.Authorize(t.Context(), request(t, s, "txn_1", "pm_card_visa"))
		if !errors.Is(err, acquirer.ErrUnknown) {
			t.Fatalf("got %v, want %v", err, acquirer.ErrUnknown)
		}
		start := time.Now() //nolint:forbidigo // the bubble's time is measured
		if err := s.Close(); err != nil || time.Since(start) != 0 || s.Known("txn_1") {
			t.Errorf("closed after %v with effect %t: %v", time.Since(start), s.Known("txn_1"), err)
		}
	})
}

// TestALateEffectPassesAVoid: a request in progress takes effect although it was voided in the
// meantime, and the effect outlives a restart.
func TestALateEffectPassesAVoid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		journal := filepath.Join(t.TempDir(), "journal")
		text := string(simulator.Embedded()) + "\ndisturbances: [{kind: late, share: 1000, delay_ms: 1, effect_ms: 60000}]\n"
		s := mustOpen(t, simulator.Config{Catalogue: []byte(text), Journal: journal})
		_, err := s.Authorize(t.Context(), request(t, s, "txn_1", "pm_card_visa"))
		if !errors.Is(err, acquirer.ErrUnknown) {
			t.Fatalf("got %v, want %v", err, acquirer.ErrUnknown)
		}
		s.VoidUndisturbed(t.Context(), "void_1", "txn_1")
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		again := mustOpen(t, simulator.Config{Journal: journal})
		if a, err := again.Inquire(t.Context(), acquirer.Sent{Reference: "txn_1"}); err != nil || !a.Approved || a.Released {
			t.Errorf("got %+v, %v, want an approval that is not released", a, err)
		}
	})
}
