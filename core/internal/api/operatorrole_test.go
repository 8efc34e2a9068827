package api_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/operator"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const operatorTokens = operator.Root + "/operators"

// TestOperatorRoles checks each role against each kind of route, and that a refusal is recorded
// with the operator's name.
func TestOperatorRoles(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	tokens := map[string]string{"filter": token}
	for _, role := range []string{auth.RoleAuditor, auth.RoleFilter} {
		made := MustDecode[operator.Token](t, p.post(t, operatorTokens, `{"name":"bob","role":"`+role+`"}`), 201)
		tokens[role] = made.Token.Reveal()
	}
	key := `{"mode":"live","kind":"secret"}`
	path := merchants + "/" + b.merchant
	for name, c := range map[string]struct {
		method, path, body string
		auditor, filter    bool
	}{
		"list merchants":  {"GET", merchants, "", true, false},
		"read a merchant": {"GET", path, "", true, false},
		"list keys":       {"GET", path + "/api_keys", "", true, false},
		"list operators":  {"GET", operatorTokens, "", true, false},
		"list records":    {"GET", operator.Root + "/audit_records", "", true, false},
		"make a merchant": {"POST", merchants, `{"name":"x"}`, false, false},
		"allow refunds":   {"PATCH", path, `{"unlinked_refunds":true}`, false, false},
		"make a live key": {"POST", path + "/api_keys", key, false, false},
		"make a token":    {"POST", operatorTokens, `{"name":"x","role":"operator"}`, false, false},
		"broadcast":       {"POST", broadcasts, rotated, false, true},
	} {
		for who, token := range tokens {
			allowed := c.filter
			if who == auth.RoleAuditor {
				allowed = c.auditor
			}
			got := p.do(t, c.method, c.path, c.body, as(token))
			if allowed != (got.status < 300) {
				t.Errorf("%s by %s: got %d %s", name, who, got.status, got.body)
			}
			if !allowed {
				wantRefusal(t, got, refusal{403, v1.ErrorTypePermissionError, "insufficient_role", ""})
			}
		}
	}
	refused := 0
	for _, r := range coretest.MustAuditRecords(t, b.core.Admin()) {
		if r.Outcome == "insufficient_role" && (r.Actor == "filter" || strings.HasPrefix(r.Actor, "operator bob opr_")) {
			refused++
		}
	}
	if want := 2*4 + 5; refused != want { // four kinds of changes by the filters, and five by the auditor
		t.Errorf("got %d records of refusals, want %d", refused, want)
	}
}

// TestOperatorTokens checks the life of tokens: several valid tokens, an expiry, and an immediate
// revocation. Nothing shows a token a second time.
func TestOperatorTokens(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	create := func(body string) operator.Token {
		return MustDecode[operator.Token](t, p.post(t, operatorTokens, body), 201)
	}
	first, second := create(`{"name":"carol","role":"operator"}`), create(`{"name":"carol","role":"operator"}`)
	short := create(`{"name":"dave","role":"operator","expires_at":"` + birth.Add(time.Hour).Format(time.RFC3339) + `"}`)
	wrong := refusal{401, v1.ErrorTypeAuthenticationError, "invalid_operator_token", ""}
	for _, o := range []operator.Token{first, second, short} {
		if got := p.get(t, merchants, as(o.Token.Reveal())); got.status != 200 {
			t.Errorf("%s: got %d", o.ID, got.status)
		}
	}
	revoked := MustDecode[operator.Token](t, p.do(t, "DELETE", operatorTokens+"/"+first.ID, ""), 200)
	if revoked.Status != operator.TokenRevoked || revoked.Token != nil {
		t.Errorf("got %+v", revoked)
	}
	b.clock.Advance(time.Hour)
	wantRefusal(t, p.get(t, merchants, as(first.Token.Reveal())), wrong)
	wantRefusal(t, p.get(t, merchants, as(short.Token.Reveal())), wrong)
	if got := p.get(t, merchants, as(second.Token.Reveal())); got.status != 200 {
		t.Errorf("a token with a revoked one: got %d", got.status)
	}
	if err := b.core.Admin().RevokeOperator(t.Context(), second.ID); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, p.get(t, merchants, as(second.Token.Reveal())), wrong)
	list := p.get(t, operatorTokens)
	found := MustDecode[operator.TokenList](t, list, 200)
	if len(found.Data) != 4 || found.Data[1].Status != operator.TokenRevoked || found.Data[3].Status != operator.TokenExpired ||
		strings.Contains(string(list.body), `"token"`) {
		t.Errorf("got %s", list.body)
	}
	bad := func(param string) refusal {
		return refusal{400, v1.ErrorTypeInvalidRequestError, "invalid_value", param}
	}
	for body, param := range map[string]string{
		`{"name":"","role":"operator"}`: "name", `{"name":"x","role":"root"}`: "role", `{"name":"x"}`: "role",
		`{"name":"x","role":"auditor","expires_at":"2020-01-01T00:00:00Z"}`: "expires_at",
	} {
		wantRefusal(t, p.post(t, operatorTokens, body), bad(param))
	}
	wantRefusal(t, p.do(t, "DELETE", operatorTokens+"/opr_0000000000001", ""), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
}

// TestOperatorLoginsAreBounded checks that an address with too many failed logins is limited for a
// minute. Each refusal is counted. A valid token from the same address is never limited.
func TestOperatorLoginsAreBounded(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	limited := refusal{429, v1.ErrorTypeRateLimitError, "too_many_logins", ""}
	for i := range 30 {
		if got := p.get(t, merchants, as("op_guess")); got.status != 401 {
			t.Fatalf("guess %d: got %d", i, got.status)
		}
	}
	got := p.get(t, merchants, as("op_guess"))
	if wantRefusal(t, got, limited); got.header.Get("Retry-After") != "60" {
		t.Errorf("got Retry-After %q", got.header.Get("Retry-After"))
	}
	if got := p.get(t, merchants); got.status != 200 {
		t.Errorf("a valid token from the same address: got %d %s", got.status, got.body)
	}
	wantRefusal(t, p.get(t, merchants, as("op_guess")), limited) // a valid login does not reset the count
	operations := httptest.NewServer(b.core.Operations())
	t.Cleanup(operations.Close)
	metrics, _ := read(t, operations.URL+"/metrics")
	for result, n := range map[string]int{"refused": 30, "limited": 2, "accepted": 1} {
		want := fmt.Sprintf(`causeway_operator_logins_total{result="%s"} %d`, result, n)
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s", want)
		}
	}
	b.clock.Advance(time.Minute)
	if got := p.get(t, merchants, as("op_guess")); got.status != 401 {
		t.Errorf("a guess a minute later: got %d %s", got.status, got.body)
	}
}
