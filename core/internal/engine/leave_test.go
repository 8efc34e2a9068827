package engine_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// TestUnreadableAfterTheAcquirer: the acquirer has carried out a step, and then core cannot read
// its transaction. The response must be that the outcome is unknown, or the success. An error could
// mean that nothing was done, and a client would repeat the step.
func TestUnreadableAfterTheAcquirer(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]error{"response": nil, "lost response": acquirer.ErrUnknown} {
		for _, st := range steps() {
			t.Run(st.name+" "+name, func(t *testing.T) {
				t.Parallel()
				s := coretest.Open(t)
				txn := st.MustPrepare(t, s)
				const hideOrShow = "UPDATE transactions SET live = 1 - live" // a merchant cannot read the other mode's
				s.Acquirer.After = func(_ context.Context, c coretest.Call) error {
					if c.Verb == st.verb {
						s.MustExec(t, hideOrShow) //nolint:contextcheck // the end of the request must not stop it
						return lost
					}
					return nil
				}
				a, err := st.take(t.Context(), s, s.Request("k"), txn)
				if err != nil || a.Status != http.StatusGatewayTimeout && (lost != nil || a.Status != st.success) {
					t.Errorf("got %d %s, %v", a.Status, a.Body, err)
				}
				heal(s)
				s.MustExec(t, hideOrShow)
				if open := s.Recover(t); open != 0 {
					t.Errorf("got %d open steps", open)
				}
				st.wantDone(t, s)
			})
		}
	}
}
