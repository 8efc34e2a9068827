package engine_test

import (
	"testing"
	"time"
)

// TestEndOfARequest: recovery claims a step of each kind once its request has returned without a
// result. From then on the request no longer blocks the recovery of the step.
func TestEndOfARequest(t *testing.T) {
	t.Parallel()
	for _, st := range append(steps(), credits()) {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := MustOpenGiving(t)
			r := serving(t, s)
			txn := st.MustPrepare(t, s)
			lose(s, st.verb, true, nil)
			if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != 504 {
				t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
			}
			heal(s)
			s.Clock.Advance(time.Second)
			pass(t, r, 1)
			wantSettledBooks(t, s)
			if got := s.Acquirer.Moved(st.verb); got != st.moves() {
				t.Errorf("moved: got %d, want %d", got, st.moves())
			}
		})
	}
}
