package executor_test

import (
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestBind: evidence is bound to one purpose. That holds at every proxy, under the rolled API key
// too, and while the deduplication secret is replaced. Under a witness, it holds for all merchants
// of a portfolio.
func TestBind(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	after := b.proxy(t, otherSecret, goldentest.Secret())
	own, witnessed := command.Binding{Evidence: "e"}, command.Binding{Evidence: "e", EvidenceKey: key}
	for i, tt := range []struct {
		proxy   *executor.Executor
		apiKey  secret.String
		binding command.Binding
		purpose []string
		want    command.Outcome
	}{
		{b.proxies[0], key, own, []string{"capture", "1"}, command.Done},
		{b.proxies[1], key, own, []string{"capture", "1"}, command.Done},
		{b.proxies[1], rolled, own, []string{"capture", "2"}, command.Refused},
		{b.proxies[0], key, own, []string{"capture1", ""}, command.Refused},
		{after, key, own, []string{"capture", "1"}, command.Done},
		{after, key, own, []string{"capture", "2"}, command.Refused},
		{b.proxies[0], key, command.Binding{Evidence: "f"}, []string{"capture", "2"}, command.Done},
		{b.proxies[0], secret.New("sk_test_other"), own, []string{"capture", "2"}, command.Done}, // another merchant
		{b.proxies[1], secret.New("sk_test_third"), witnessed, []string{"capture", "1"}, command.Done},
		{b.proxies[1], secret.New("sk_test_third"), witnessed, []string{"capture", "2"}, command.Refused},
	} {
		r := tt.proxy.Bind(t.Context(), tt.apiKey, tt.binding, tt.purpose)
		if r.Outcome != tt.want || tt.want == command.Refused && r.Code != command.CodeNameSpent {
			t.Errorf("%d: got %s %s, want %s", i, r.Outcome, r.Code, tt.want)
		}
	}
	b.v1.lostRequests = 100
	if r := b.proxies[0].Bind(t.Context(), key, command.Binding{Evidence: "g"}, nil); r.Outcome != command.Unavailable {
		t.Errorf("v1 does not respond: got %s, want it unavailable", r.Outcome)
	}
}
