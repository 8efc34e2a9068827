package auth_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// generations returns the kinds of tokens that clients send, all without a nonce.
func generations() map[string]func(*jwt) {
	p := pairs()
	return map[string]func(*jwt){
		"x5c": func(j *jwt) { legacy(j, p[0], date) },
		"RS256": func(j *jwt) {
			j.header, j.signer = []member{{"alg", "RS256"}, {"kid", "1700000000000123"}}, p[0].sign
		},
		"v-c-merchant-id": func(j *jwt) {
			j.header = set(j.header, "v-c-merchant-id", "demo_merchant_1")
			j.claims = set(j.claims, "v-c-merchant-id", nil)
		},
		"HS256": func(*jwt) {},
		"HS384": func(j *jwt) { j.header = set(j.header, "alg", "HS384") },
	}
}

// padded adds a member to the list so that the length of its JSON has that remainder modulo 3.
func padded(tb testing.TB, list []member, remainder int) []member {
	tb.Helper()
	for n := 1; ; n++ {
		out := set(list, "x", strings.Repeat("x", n))
		if len(decoded(encode(tb, out)))%3 == remainder {
			return out
		}
	}
}

// decoded returns the bytes that a lenient decoder reads from base64url, "" for none.
func decoded(text string) string {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	return string(b)
}

// TestTokenHasOneSpelling: no part of a token is accepted with another last character, for parts of
// any length. If the length is not divisible by 3, several characters stand for the same bytes.
func TestTokenHasOneSpelling(t *testing.T) {
	t.Parallel()
	v := setupWith(t, certified(), age)
	for name, generation := range generations() {
		for remainder := range 3 {
			t.Run(fmt.Sprint(name, " ", remainder), func(t *testing.T) {
				t.Parallel()
				j := tokenVector()
				generation(&j)
				j.claims = set(j.claims, "jti", nil)
				j.header, j.claims = padded(t, j.header, remainder), padded(t, j.claims, (remainder+1)%3)
				good := j.signed(t)
				if accepted(t, v, good, "demo_merchant_1").Evidence == "" {
					t.Error("no evidence")
				}
				if got, want := refuseSpellings(t, v, good), [3]int{0, 15, 3}[remainder]; got < want {
					t.Errorf("got %d spellings, want at least %d of the header", got, want)
				}
			})
		}
	}
}

// refuseSpellings checks that every other last character of each part is refused. It returns how
// many of them stand for the bytes of the good token.
func refuseSpellings(t *testing.T, v *auth.Verifier, good auth.Request) (same int) {
	t.Helper()
	for part := range 3 {
		for _, c := range alphabet {
			other, text, spelling := good, "", ""
			other.Header = good.Header.Clone()
			editToken(&other, func(parts []string) []string {
				text = parts[part]
				spelling = text[:len(text)-1] + string(c)
				parts[part] = spelling
				return parts
			})
			if spelling == text {
				continue
			}
			if decoded(spelling) == decoded(text) {
				same++
			}
			if _, err := v.Verify(t.Context(), other); err == nil {
				t.Errorf("part %d is accepted with %q for its last character %q", part, c, text[len(text)-1:])
			}
		}
	}
	return same
}

// Padding, white space, the other alphabet and further dots are refused in every part.
func TestTokenInAnotherForm(t *testing.T) {
	t.Parallel()
	v := setupWith(t, certified(), age)
	forms := map[string]func(string) string{
		"padding":            func(s string) string { return s + strings.Repeat("=", 4-len(s)%4) },
		"padding in between": func(s string) string { return s[:4] + "=" + s[4:] },
		"line feed":          func(s string) string { return s[:4] + "\n" + s[4:] },
		"carriage return":    func(s string) string { return s[:4] + "\r" + s[4:] },
		"space":              func(s string) string { return s[:4] + " " + s[4:] },
		"plus":               func(s string) string { return s[:4] + "+" + s[5:] },
		"slash":              func(s string) string { return s[:4] + "/" + s[5:] },
		"dot":                func(s string) string { return s[:4] + "." + s[4:] },
		"half a byte":        func(s string) string { return s + strings.Repeat("A", (5-len(s)%4)%4) },
		"nothing":            func(string) string { return "" },
	}
	for name, generation := range generations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := tokenVector()
			generation(&j)
			j.header, j.claims = padded(t, j.header, 2), padded(t, j.claims, 2)
			good := j.signed(t)
			accepted(t, v, good, "demo_merchant_1")
			for form, change := range forms {
				for part := range 3 {
					other := good
					other.Header = good.Header.Clone()
					editToken(&other, func(parts []string) []string {
						parts[part] = change(parts[part])
						return parts
					})
					if _, err := v.Verify(t.Context(), other); err == nil {
						t.Errorf("%s in part %d is accepted", form, part)
					}
				}
			}
		})
	}
}

// The key id of an HTTP signature is not signed. Under another id of the same secret, a recorded
// request has the same evidence. The evidence of another secret differs.
func TestEvidenceUnderAnotherKeyID(t *testing.T) {
	t.Parallel()
	const otherSecret = "YW5vdGhlci1zaGFyZWQtc2VjcmV0LTMyLWJ5dGVzISE="
	v := setupWith(t, `provider_b:
  - merchant_id: demo_merchant_1
    keys:
      - {id: first, shared_secret: `+sharedSecret+`}
      - {id: second, shared_secret: `+sharedSecret+`}
      - {id: third, shared_secret: `+otherSecret+`}
    api_key: sk_test_one
`, age)
	evidence := map[string]string{}
	for id, key := range map[string]string{"first": sharedSecret, "second": sharedSecret, "third": otherSecret} {
		m := vector()
		m.id, m.key = id, key
		evidence[id] = accepted(t, v, m.signed(t), "demo_merchant_1").Evidence
	}
	if evidence["first"] != evidence["second"] {
		t.Errorf("two ids of one secret: got %q and %q", evidence["first"], evidence["second"])
	}
	if evidence["first"] == evidence["third"] {
		t.Errorf("two secrets: got the evidence %q for both", evidence["first"])
	}
}

// TestEvidenceOfALegacyToken: the evidence of a token without a nonce is its content. Neither a
// later signature of the same content nor the path, which is not signed, changes it.
func TestEvidenceOfALegacyToken(t *testing.T) {
	t.Parallel()
	v, p := setupWith(t, certified(), age), pairs()
	for _, alg := range []string{"RS256", "PS256"} {
		j := tokenVector()
		legacy(&j, p[0], date)
		j.header = set(j.header, "alg", alg)
		first := j.signed(t)
		evidence := accepted(t, v, first, "demo_merchant_1").Evidence
		again := j.signed(t) // PS256 signs with random bytes
		if accepted(t, v, again, "demo_merchant_1").Evidence != evidence {
			t.Errorf("%s: another signature of the same content has other evidence", alg)
		}
		if same := again.Header.Get("Authorization") == first.Header.Get("Authorization"); same != (alg == "RS256") {
			t.Errorf("%s: the second signature is the same: %v", alg, same)
		}
		j.Target = "/pts/v2/credits"
		if accepted(t, v, j.signed(t), "demo_merchant_1").Evidence != evidence {
			t.Errorf("%s: the path, which is not signed, is in the evidence", alg)
		}
		j.claims = set(j.claims, "iat", now.Add(-time.Second).Unix())
		if accepted(t, v, j.signed(t), "demo_merchant_1").Evidence == evidence {
			t.Errorf("%s: another claim has the same evidence", alg)
		}
		j.claims = set(j.claims, "iat", date)
		j.header = set(j.header, "x", "y")
		if accepted(t, v, j.signed(t), "demo_merchant_1").Evidence == evidence {
			t.Errorf("%s: another header has the same evidence", alg)
		}
	}
}
