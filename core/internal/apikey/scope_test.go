package apikey_test

import (
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/apikey"
)

func TestScopes(t *testing.T) {
	t.Parallel()
	all := apikey.AllScopes()
	if got, want := len(all), 13; got != want {
		t.Errorf("got %d scopes, want %d", got, want)
	}
	for i, s := range all {
		if !apikey.ValidScope(s) {
			t.Errorf("%q: got invalid, want valid", s)
		}
		if slices.Contains(all[:i], s) {
			t.Errorf("%q: got it twice, want it once", s)
		}
	}
	for _, s := range []string{"", "payments", "payments:*", "Payments:authorize", "payments:authorize "} {
		if apikey.ValidScope(s) {
			t.Errorf("%q: got valid, want invalid", s)
		}
	}
}

func TestDefaultScopes(t *testing.T) {
	t.Parallel()
	for kind, want := range map[apikey.Kind][]string{
		apikey.Secret:      apikey.AllScopes(),
		apikey.Publishable: {"tokens:create", "payments:confirm"},
		"admin":            nil,
	} {
		if got := apikey.DefaultScopes(kind); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", kind, got, want)
		}
	}
	apikey.DefaultScopes(apikey.Secret)[0] = "spoiled"
	if got, want := apikey.AllScopes()[0], "payments:authorize"; got != want {
		t.Errorf("after a caller changed its slice: got %q, want %q", got, want)
	}
}
