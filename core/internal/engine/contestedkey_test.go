package engine_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
)

// TestAContestedKeyIsNotFreed: the outcome of a payment is unknown. Then recovery finds that the
// acquirer never had it. Its key is free, unless another request was sent with the key meanwhile:
// then the key refuses both requests and any third one.
func TestAContestedKeyIsNotFreed(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		if st.verb != coretest.Authorize {
			continue
		}
		for name, contested := range map[string]bool{"contested": true, "left alone": false} {
			t.Run(st.name+", "+name, func(t *testing.T) {
				t.Parallel()
				s := coretest.Open(t)
				r := serving(t, s)
				st.mustLoseOutcome(t, s, false)
				other := s.Request("k")
				other.Fingerprint = []byte("another")
				for range 2 {
					if !contested {
						break
					}
					if _, err := s.Pay(t.Context(), other, 7, true); !errors.Is(err, engine.ErrKeyReused) {
						t.Fatalf("another request: got %v, want ErrKeyReused", err)
					}
				}
				if k, err := s.Engine.IdempotencyKey(t.Context(), s.Tenant, "k"); err != nil || k.Status != 0 {
					t.Fatalf("the key while its request runs: got %+v, %v", k, err)
				}
				s.Clock.Advance(engine.Patience)
				pass(t, r, 1)
				if !contested {
					if a, err := s.Pay(t.Context(), other, 7, true); err != nil || a.Status != http.StatusCreated {
						t.Errorf("another request: got %d, %v, want 201", a.Status, err)
					}
					return
				}
				if _, err := s.Pay(t.Context(), other, 7, true); !errors.Is(err, engine.ErrKeyReused) {
					t.Errorf("another request after recovery: got %v, want ErrKeyReused", err)
				}
				a, err := s.Pay(t.Context(), s.Request("k"), 100, true)
				if err != nil || a.Status != http.StatusUnprocessableEntity || !a.Replayed {
					t.Errorf("the request itself: got %d, %v, replayed %t, want 422", a.Status, err, a.Replayed)
				}
				if k, err := s.Engine.IdempotencyKey(t.Context(), s.Tenant, "k"); err != nil || k.Status != a.Status {
					t.Errorf("the key: got %+v, %v", k, err)
				}
			})
		}
	}
}
