package auth_test

import (
	"strings"
	"testing"
	"time"
)

// TestTokenOfTheFuture: a token is rejected if its time is ahead by more than clocks may differ.
// Times written as text may be in local time.
func TestTokenOfTheFuture(t *testing.T) {
	t.Parallel()
	late, soon := now.Add(5*time.Minute+time.Second).Unix(), now.Add(5*time.Minute).Unix()
	v := setup(t, age)
	for _, tt := range []struct {
		claim string
		value any
		taken bool
	}{
		{"nbf", soon, true},
		{"nbf", late, false},
		{"nbf", now.Add(6 * time.Minute).Format(time.RFC3339), true},
		{"iat", soon, true},
		{"iat", late, false},
		{"iat", now.Add(time.Hour).Unix(), false},
		{"iat", now.Add(6 * time.Minute).Format(time.RFC3339), true},
	} {
		j := tokenVector()
		j.claims = set(j.claims, tt.claim, tt.value)
		if tt.taken {
			accepted(t, v, j.signed(t), "demo_merchant_1")
		} else {
			refused(t, v, j.signed(t))
		}
	}
}

// A token with neither a creation time nor an end would be valid forever, so every login refuses
// it.
func TestTokenWithoutAnyTime(t *testing.T) {
	t.Parallel()
	v, p := setupWith(t, certified(), 0), pairs()
	for _, first := range []bool{true, false} {
		j := tokenVector()
		if first {
			legacy(&j, p[0], date)
		}
		j.claims = set(set(j.claims, "iat", nil), "exp", nil)
		refused(t, v, j.signed(t))
	}
}

// The merchant of a portfolio's token without one is in the header, which is not signed.
func TestTokenOfAPortfolioIsBound(t *testing.T) {
	t.Parallel()
	text := strings.Replace(certified(), "  - merchant_id: demo_merchant_2\n    api_key: sk_test_two\n",
		"  - merchant_id: demo_merchant_2\n", 1)
	v, p := setupWith(t, text, age), pairs()
	j := tokenVector()
	j.header, j.signer = []member{{"alg", "RS256"}, {"kid", "11259376"}}, p[1].sign
	j.claims = set(j.claims, "iss", "demo_merchant_2")
	if c := accepted(t, v, j.signed(t), "demo_merchant_1"); !c.EvidenceKey.IsZero() {
		t.Error("a merchant that the token names has a witness")
	}
	j.claims = set(j.claims, "v-c-merchant-id", nil)
	r := j.signed(t)
	r.Header.Set("V-C-Merchant-Id", "demo_merchant_1")
	if c := accepted(t, v, r, "demo_merchant_1"); c.EvidenceKey.Reveal() != "sk_test_one" || c.Login != "demo_merchant_2" {
		t.Errorf("caller = %+v, want a witness and the login", c)
	}
}
