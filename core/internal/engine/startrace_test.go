package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// TestPassesBesideAStartThatGaveUp: a start that ends while the acquirer hangs leaves no goroutine
// that waits for the workers. Later passes begin and end other workers. With -race, this finds a
// WaitGroup that is added to while a start still waits for it.
func TestPassesBesideAStartThatGaveUp(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	lose(s, coretest.Authorize, true, nil)
	for range 3 {
		if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 504 {
			t.Fatal(a.Status, err)
		}
	}
	for range 40 {
		gate := make(chan struct{})
		s.Acquirer.Before = func(context.Context, coretest.Call) error { <-gate; return acquirer.ErrUnknown }
		s.Clock.Advance(time.Hour)
		r := s.Engine.NewRecovery()
		if err := r.CatchUp(t.Context(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
		close(gate)
		for range 20 {
			s.Clock.Advance(time.Hour)
			if _, err := r.Pass(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		r.Wait()
	}
	if got := s.Open(t); got != 3 {
		t.Errorf("unfinished: got %d, want 3", got)
	}
	heal(s)
	if got := s.Recover(t); got != 0 {
		t.Errorf("unfinished once the acquirer is back: got %d, want none", got)
	}
}
