package executor_test

import (
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
)

// sending returns a payment under a name that its client chose, in a request that its evidence
// identifies.
func sending(amount int64, evidence string) command.Named {
	c := named(amount)
	c.Evidence = evidence
	return c
}

// After a result that makes the client retry, the same bytes are executed.
func TestOutageSpendsNoEvidence(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.v1.lostRequests = 100
	if r := b.result(t, 0, sending(100, "e")); r.Outcome == command.Refused || r.Outcome == command.Done {
		t.Fatalf("got %s, want an outage", r.Outcome)
	}
	b.v1.hear()
	if r := b.result(t, 1, sending(100, "e")); r.Outcome != command.Done || b.v1.paid() != 1 {
		t.Errorf("got %s and %d payments, want one", r.Outcome, b.v1.paid())
	}
}
