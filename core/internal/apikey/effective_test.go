package apikey_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/apikey"
)

// TestEffectiveScopes states the whole table: what each granted scope, and each with compat:use,
// gives besides itself.
func TestEffectiveScopes(t *testing.T) {
	t.Parallel()
	const reserve = "idempotency_keys:reserve"
	alone := map[string]string{
		"payments:authorize": "transactions:read_one " + reserve,
		"payments:capture":   "transactions:read_one " + reserve,
		"payments:confirm":   "transactions:read_one " + reserve,
		"refunds:create":     "transactions:read_one refunds:read_one refunds:create_linked " + reserve,
		"transactions:read": "transactions:read_one transactions:find refunds:read_one tokens:read_one " +
			"idempotency_keys:read",
		"customers:write": "tokens:create customers:read_one " + reserve,
		"customers:read":  "customers:read_one customers:find payment_methods:list",
		"tokens:create":   "tokens:read_one " + reserve,
		"webhooks:write":  reserve,
		"keys:write":      reserve,
		"mle:write":       reserve,
		"compat:use":      reserve,
	}
	compat := map[string]string{
		"payments:authorize": "payments:capture transactions:read_one transactions:find refunds:read_one " +
			"refunds:create_linked customers:read_one idempotency_keys:read " + reserve,
		"payments:capture": "transactions:read_one refunds:read_one idempotency_keys:read " + reserve,
		"refunds:create":   "transactions:read_one refunds:read_one refunds:create_linked idempotency_keys:read " + reserve,
		"customers:write": "tokens:create customers:read_one customers:find payment_methods:list idempotency_keys:read " +
			reserve,
		"transactions:read": alone["transactions:read"] + " " + reserve,
		"customers:read":    alone["customers:read"] + " " + reserve,
		"events:read":       reserve,
	}
	for _, scope := range apikey.AllScopes() {
		wantEffective(t, apikey.Secret, []string{scope}, strings.Fields(alone[scope]))
		if scope == "compat:use" {
			continue
		}
		gives, more := compat[scope]
		if !more {
			gives = alone[scope]
		}
		wantEffective(t, apikey.Secret, []string{scope, "compat:use"}, strings.Fields(gives))
		wantEffective(t, apikey.Publishable, []string{scope, "compat:use"}, nil)
		wantEffective(t, "admin", []string{scope, "compat:use"}, nil)
	}
}

// TestAllEffectiveScopes: a key with every scope has all of them, and the narrow ones.
func TestAllEffectiveScopes(t *testing.T) {
	t.Parallel()
	wantEffective(t, apikey.Secret, nil, nil)
	wantEffective(t, apikey.Publishable, apikey.DefaultScopes(apikey.Publishable), nil)
	all := apikey.EffectiveScopes(apikey.Secret, apikey.AllScopes())
	if got, want := len(all), len(apikey.AllScopes())+10; got != want || !slices.Equal(all[:13], apikey.AllScopes()) {
		t.Errorf("of a key with every scope: got %v, want all of them first, then 10 others", all)
	}
	for _, s := range all[len(apikey.AllScopes()):] {
		if apikey.ValidScope(s) || !apikey.ValidScope(apikey.Grantable(s)) {
			t.Errorf("%s: grantable %t, as %s, want only the second grantable", s, apikey.ValidScope(s), apikey.Grantable(s))
		}
	}
}

func wantEffective(t *testing.T, kind apikey.Kind, granted, more []string) {
	t.Helper()
	got := apikey.EffectiveScopes(kind, granted)
	want := slices.Concat(granted, more)
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%s key with %v: got %v, want %v", kind, granted, got, want)
	}
	for _, s := range append(apikey.AllScopes(), "payments:*", "", "transactions:find", "refunds:create_linked") {
		if got, want := apikey.Permits(kind, granted, s), slices.Contains(want, s); got != want {
			t.Errorf("%s key with %v: permits %q: got %t, want %t", kind, granted, s, got, want)
		}
	}
}

func TestGrantable(t *testing.T) {
	t.Parallel()
	for scope, want := range map[string]string{
		"payments:capture": "payments:capture", "tokens:create": "tokens:create", "transactions:find": "transactions:read",
		"refunds:read_one": "transactions:read", "tokens:read_one": "transactions:read", "customers:find": "customers:read",
		"payment_methods:list":  "customers:read",
		"refunds:create_linked": "refunds:create", "idempotency_keys:read": "transactions:read",
		"idempotency_keys:reserve": "payments:authorize", "": "",
	} {
		if got := apikey.Grantable(scope); got != want {
			t.Errorf("%q: got %q, want %q", scope, got, want)
		}
	}
}
