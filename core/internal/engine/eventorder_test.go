package engine_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// TestNoEventIsMissed: who pages by the last event that he saw, while many write, sees each event once, and an own one at once.
func TestNoEventIsMissed(t *testing.T) {
	t.Parallel()
	const writers, payments = 12, 25
	s := coretest.Open(t)
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for range payments {
				if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
					t.Errorf("got %d, %v", a.Status, err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	var seen []int64
	for last := false; !last; {
		select {
		case <-done:
			last = true // and then once more
			s.Database.Placed(t, s.Inspect)
		default:
		}
		for more := true; more; {
			p := payment.Page{Limit: 7, Before: 1}
			if len(seen) > 0 {
				p.Before = seen[len(seen)-1]
			}
			found, err := s.DB.Events(t.Context(), s.Tenant, payment.EventFilter{}, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range slices.Backward(found.Rows) { // newest first
				seen = append(seen, e.ID)
			}
			more = found.More
		}
	}
	slices.Sort(seen)
	if got, want := len(slices.Compact(seen)), writers*payments; got != want || len(seen) != want {
		t.Errorf("saw %d events of %d, %d of them twice", got, want, len(seen)-got)
	}
}
