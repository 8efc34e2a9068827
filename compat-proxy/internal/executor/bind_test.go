package executor_test

import (
	"net/http"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// bound returns a payment under a name, by a login with evidence.
func bound(name, evidence string) command.Named {
	return command.Named{Command: charge, Name: name, Bound: command.Binding{Evidence: evidence}}
}

// TestEvidenceIsBoundToItsName: evidence serves one name only. That holds at every proxy, under the
// rolled API key too, and while the deduplication secret is replaced.
func TestEvidenceIsBoundToItsName(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	after := b.proxy(t, otherSecret, goldentest.Secret())
	for i, tt := range []struct {
		proxy   *executor.Executor
		apiKey  secret.String
		command command.Named
		want    command.Outcome
	}{
		{b.proxies[0], key, bound("a", "e"), command.Done},
		{b.proxies[1], key, bound("a", "e"), command.Done},    // the same request again
		{b.proxies[0], rolled, bound("a", "f"), command.Done}, // a retry that was signed again
		{b.proxies[1], key, bound("b", "e"), command.Refused},
		{b.proxies[0], rolled, bound("b", "e"), command.Refused},
		{after, key, bound("b", "e"), command.Refused},
		{after, key, bound("b", "f"), command.Refused},
		{b.proxies[1], key, command.Named{Command: charge, Name: "e", Final: true}, command.Refused},
	} {
		if r := tt.proxy.Execute(t.Context(), tt.apiKey, tt.command); r.Outcome != tt.want {
			t.Errorf("%d: got %s %s, want %s", i, r.Outcome, r.Code, tt.want)
		}
	}
	if got := b.v1.paid(); got != 1 {
		t.Errorf("got %d payments, want 1", got)
	}
}

// Evidence that was the name of a request serves no other name.
func TestEvidenceThatIsAName(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.proxies[0].Execute(t.Context(), key, command.Named{Command: charge, Name: "e", Final: true})
	r := b.proxies[1].Execute(t.Context(), key, bound("a", "e"))
	if r.Outcome != command.Refused || r.Code != command.CodeNameSpent {
		t.Errorf("got %s %s, want it refused", r.Outcome, r.Code)
	}
	if got := b.v1.paid(); got != 1 {
		t.Errorf("got %d payments, want 1", got)
	}
}

// A witness keeps evidence for all merchants of a portfolio: each has separate keys at v1.
func TestEvidenceUnderAnotherKey(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	of := func(merchant string) command.Named {
		c := bound("evidence of "+merchant, "e")
		c.Bound.EvidenceKey = key
		return c
	}
	for i, tt := range []struct {
		apiKey string
		want   command.Outcome
	}{
		{"sk_test_key", command.Done},
		{"sk_test_other", command.Refused},
		{"sk_test_third", command.Refused},
		{"sk_test_key", command.Done},
	} {
		if r := b.proxies[i%2].Execute(t.Context(), secret.New(tt.apiKey), of(tt.apiKey)); r.Outcome != tt.want {
			t.Errorf("%d, %s: got %s %s, want %s", i, tt.apiKey, r.Outcome, r.Code, tt.want)
		}
	}
	if got := b.v1.paid(); got != 1 {
		t.Errorf("got %d payments, want 1", got)
	}
}

// Nothing is paid while v1 does not accept the reservation. If its response is lost, a retry
// succeeds.
func TestEvidenceThatIsNotReserved(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.v1.lostRequests = 100
	if r := b.proxies[0].Execute(t.Context(), key, bound("a", "e")); r.Outcome != command.Unavailable || b.v1.paid() != 0 {
		t.Errorf("got %s and %d payments, want it unavailable and none", r.Outcome, b.v1.paid())
	}
	b.v1.lostRequests, b.v1.lostResponses = 0, 2
	if r := b.proxies[0].Execute(t.Context(), key, bound("a", "e")); r.Outcome != command.Done {
		t.Errorf("after a lost response: got %s, want it done", r.Outcome)
	}
	x, f := setup(t, map[string][]response{"POST /v1/idempotency_keys": {{
		status: http.StatusUnauthorized,
		body:   refusal("invalid_api_key"),
	}}})
	if r := run(t, x, bound("a", "e")); r.Outcome != command.Refused || r.Status != http.StatusUnauthorized ||
		len(f.posts()) != 1 {
		t.Errorf("an API key that is none: got %s %d after %v", r.Outcome, r.Status, routes(f))
	}
}
