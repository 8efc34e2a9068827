package executor_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

const current = "GET /v1/api_keys/current"

func TestInspect(t *testing.T) {
	t.Parallel()
	f := &fakeV1{responses: map[string][]response{current: {
		{status: 200, body: `{"merchant":"mer_1","mode":"test","scopes":["compat:use"]}`},
		{status: 200, body: `{"merchant":"mer_1","mode":"test","scopes":[]}`},
		{status: 401, body: refusal("invalid_api_key")},
	}}}
	server := goldentest.Serve(t, f)
	now := clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC))
	x, err := executor.New(executor.Config{
		V1: v1client.Config{URL: server.URL, Clock: now}, DeduplicationSecret: goldentest.Secret(),
	})
	if err != nil {
		t.Fatal(err)
	}
	inspect := func(wantScopes []string, wantCalls int) {
		t.Helper()
		info, r := x.Identify(t.Context(), key)
		if r.Outcome != command.Done || !slices.Equal(info.Scopes, wantScopes) {
			t.Errorf("got %s and scopes %v, want done and %v", r.Outcome, info.Scopes, wantScopes)
		}
		if got := len(f.seen()); got != wantCalls {
			t.Errorf("calls: got %d, want %d", got, wantCalls)
		}
	}
	inspect([]string{"compat:use"}, 1)
	now.Advance(4 * time.Second)
	inspect([]string{"compat:use"}, 1)
	now.Advance(time.Second)
	inspect([]string{}, 2)

	now.Advance(5 * time.Second)
	if _, r := x.Identify(t.Context(), key); r.Outcome != command.Refused || r.Status != 401 {
		t.Errorf("got %s %d, want refused 401", r.Outcome, r.Status)
	}
}

// TestInspectLimitedKey: v1 judges each request of a key that is limited to addresses. A kept
// record would confirm the key to a client at another address.
func TestInspectLimitedKey(t *testing.T) {
	t.Parallel()
	x, f := setup(t, map[string][]response{current: {
		{status: 200, body: `{"merchant":"mer_1","mode":"test","scopes":[],"allowed_addresses":["203.0.113.7/32"]}`},
		{status: 403, body: refusal("address_not_allowed")},
	}})
	if _, r := x.Identify(t.Context(), key); r.Outcome != command.Done {
		t.Errorf("got %s, want done", r.Outcome)
	}
	if _, r := x.Identify(t.Context(), key); r.Code != "address_not_allowed" {
		t.Errorf("from another address: got %s %s, want v1's refusal", r.Outcome, r.Code)
	}
	if got := len(f.seen()); got != 2 {
		t.Errorf("calls: got %d, want 2", got)
	}
}

func TestInspectKeepsFewKeys(t *testing.T) {
	t.Parallel()
	x, f := setup(t, map[string][]response{current: {{status: 200, body: `{"merchant":"mer_1","mode":"test",` +
		`"scopes":[]}`}}})
	const keys = 1100
	for round := range 2 {
		for i := range keys {
			if _, r := x.Identify(t.Context(), secret.New("sk_test_"+strconv.Itoa(i))); r.Outcome != command.Done {
				t.Fatalf("round %d: got %s, want done", round, r.Outcome)
			}
		}
	}
	if got := len(f.seen()); got <= keys || got >= 2*keys {
		t.Errorf("calls: got %d, want more than %d (the cache is bounded) and fewer than %d (it works)", got, keys, 2*keys)
	}
}
