package auth_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
)

// tokenVector returns the contract's test vector.
func tokenVector() jwt {
	return jwt{
		Request: auth.Request{
			Method: http.MethodPost, Host: host, Target: "/pts/v2/payments", Header: http.Header{},
			Body: []byte(body),
		},
		header: []member{{"alg", "HS256"}, {"typ", "JWT"}, {"kid", keyID}},
		claims: []member{
			{"digest", strings.TrimPrefix(digest(body), "SHA-256=")},
			{"digestAlgorithm", "SHA-256"},
			{"iat", 1764565463},
			{"exp", 1764565583},
			{"request-host", host},
			{"request-resource-path", "/pts/v2/payments"},
			{"request-method", "POST"},
			{"iss", "demo_merchant_1"},
			{"jti", "0f0e0d0c-0b0a-4908-8706-050403020100"},
			{"v-c-jwt-version", "2"},
			{"v-c-merchant-id", "demo_merchant_1"},
		},
		signer: bySecret,
	}
}

// The vector is the contract's, whose signature comes from another implementation.
func TestTokenVector(t *testing.T) {
	t.Parallel()
	r := tokenVector().signed(t)
	got, want := r.Header.Get("Authorization"), ".bl5p6Z1EnzIL5DPGX_bMhnzlT2ObFfhNBDSUdaLcmUg"
	if !strings.HasSuffix(got, want) {
		t.Fatalf("token = %s, want it to end in %s", got, want)
	}
	c := accepted(t, setup(t, age), r, "demo_merchant_1")
	if c.Pathless || !c.MayEncrypt || !strings.Contains(c.Evidence, "0f0e0d0c") || c.ResponseKey != nil {
		t.Errorf("caller = %+v, want evidence that is a nonce, and a plain response", c)
	}
}

// pair is a merchant's key with its certificate.
type pair struct {
	key *rsa.PrivateKey
	der []byte
	pem string
}

// pairs are key pairs that are made once. The first is for merchant 1, with a serialNumber in its
// subject. The second is for merchant 2, without one. The third is not registered.
var pairs = sync.OnceValue(func() [3]pair {
	var out [3]pair
	for i, serial := range []string{"1700000000000123", "", "1700000000000123"} {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		template := &x509.Certificate{
			SerialNumber: big.NewInt(int64(0xabcdef + i)), Subject: pkix.Name{CommonName: "m", SerialNumber: serial},
			NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		}
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			panic(err)
		}
		out[i] = pair{key, der, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))}
	}
	return out
})

// certified returns a credentials file of merchants that sign with certificates.
func certified() string {
	p := pairs()
	return "provider_b:\n  - merchant_id: demo_merchant_1\n    api_key: sk_test_one\n    certificates: [" +
		strconv.Quote(p[0].pem) + "]\n" +
		"    response_keys: [{kid: responses, certificate: " + strconv.Quote(p[0].pem) + "}]\n" +
		"    keys: [{id: " + keyID + ", shared_secret: " + sharedSecret + "}]\n" +
		"  - merchant_id: demo_merchant_2\n    api_key: sk_test_two\n    certificates: [" + strconv.Quote(p[1].pem) + "]\n" +
		"    portfolio: [demo_merchant_1]\n"
}

func (p pair) sign(alg, content string) []byte {
	of := map[string]crypto.Hash{"256": crypto.SHA256, "384": crypto.SHA384, "512": crypto.SHA512}[alg[2:]]
	h := of.New()
	h.Write([]byte(content))
	var out []byte
	if strings.HasPrefix(alg, "PS") {
		out, _ = rsa.SignPSS(rand.Reader, p.key, of, h.Sum(nil), &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
	} else {
		out, _ = rsa.SignPKCS1v15(nil, p.key, of, h.Sum(nil))
	}
	return out
}

// legacy turns a token into one of the first generation.
func legacy(j *jwt, p pair, issuedAt any) {
	j.header = []member{
		{"v-c-merchant-id", "demo_merchant_1"},
		{"x5c", []string{base64.StdEncoding.EncodeToString(p.der)}},
		{"alg", "RS256"},
	}
	j.claims = []member{
		{"digest", strings.TrimPrefix(digest(body), "SHA-256=")},
		{"digestAlgorithm", "SHA-256"},
		{"iat", issuedAt},
	}
	j.signer = p.sign
}

func TestTokenAccepted(t *testing.T) {
	t.Parallel()
	v, p := setupWith(t, certified(), age), pairs()
	by := func(alg, kid string, p pair) func(*jwt) {
		return func(j *jwt) { j.header, j.signer = []member{{"alg", alg}, {"kid", kid}, {"typ", "JWT"}}, p.sign }
	}
	tests := map[string]func(*jwt){
		"numbers as text": func(j *jwt) { j.claims = set(set(j.claims, "iat", "1764565463"), "exp", "1764565583") },
		"another spelling": func(j *jwt) {
			j.claims = set(set(j.claims, "digestAlgorithm", nil), "digest-algorithm", "sha-256")
		},
		"method in lower case": func(j *jwt) { j.claims = set(j.claims, "request-method", "post") },
		"a clock that differs": func(j *jwt) { j.claims = set(j.claims, "exp", now.Add(-4*time.Minute).Unix()) },
		"another port": func(j *jwt) {
			j.Host, j.claims = "pay.example:8443", set(j.claims, "request-host", "pay.example")
		},
		"mounted": func(j *jwt) {
			j.Host, j.Prefix, j.Target = "pay.example", "/compat/provider-b", "/compat/provider-b/pts/v2/payments"
			j.claims = set(j.claims, "request-host", "pay.example/compat/provider-b")
		},
		"query":          func(j *jwt) { j.Target += "?a=1"; j.claims = set(j.claims, "request-resource-path", j.Target) },
		"query left out": func(j *jwt) { j.Target += "?a=1" },
		"no body":        func(j *jwt) { j.Body, j.claims = nil, set(j.claims, "digest", nil) },
		"unknown claim":  func(j *jwt) { j.claims = set(j.claims, "colour", []int{1}) },
		"X.509 serial": func(j *jwt) {
			by("RS256", "11259376", p[1])(j)
			j.claims = set(j.claims, "iss", "demo_merchant_2")
		},
		"X.509 serial, hex": func(j *jwt) {
			by("RS256", "abcdf0", p[1])(j)
			j.claims = set(j.claims, "iss", "demo_merchant_2")
		},
	}
	for _, alg := range []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"} {
		tests[alg] = by(alg, "1700000000000123", p[0])
	}
	for _, alg := range []string{"HS384", "HS512"} {
		tests[alg] = func(j *jwt) { j.header = set(j.header, "alg", alg) }
	}
	checkAccepted(t, v, tests, false)
}

func TestLegacyTokenAccepted(t *testing.T) {
	t.Parallel()
	v, p := setupWith(t, certified(), age), pairs()
	checkAccepted(t, v, map[string]func(*jwt){
		"date":     func(j *jwt) { legacy(j, p[0], date) },
		"number":   func(j *jwt) { legacy(j, p[0], 1764565463) },
		"text":     func(j *jwt) { legacy(j, p[0], "1764565463") },
		"minutes":  func(j *jwt) { legacy(j, p[0], "2025-12-01T05:04Z") },
		"RFC 5322": func(j *jwt) { legacy(j, p[0], "Mon, 01 Dec 2025 05:04:23 +0000") },
		"exp alone": func(j *jwt) {
			legacy(j, p[0], date)
			j.claims = append(set(j.claims, "iat", nil), member{"exp", now.Add(time.Minute).Unix()})
		},
		"no name":    func(j *jwt) { legacy(j, p[0], date); j.header = set(j.header, "v-c-merchant-id", nil) },
		"with a kid": func(j *jwt) { legacy(j, p[0], date); j.header = set(j.header, "kid", "whatever") },
	}, true)
}

// TestTokenForSeveralIDs: a client may sign equal tokens for several ids only if it signs neither a
// path nor a nonce. A token without an end is for one id.
func TestTokenForSeveralIDs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		login, kid string
		claims     []member
		age        time.Duration
		want       bool
	}{
		"neither":       {"demo_merchant_1", keyID, nil, age, true},
		"nonce":         {"demo_merchant_1", keyID, []member{{"jti", "n-1"}}, age, false},
		"path":          {"demo_merchant_1", keyID, []member{{"request-resource-path", "/pts/v2/payments"}}, age, false},
		"method alone":  {"demo_merchant_1", keyID, []member{{"request-method", "POST"}}, age, true},
		"no bound":      {"demo_merchant_1", keyID, nil, 0, false},
		"any date":      {"any_date", relaxedKey, nil, age, false},
		"any date, jti": {"any_date", relaxedKey, []member{{"jti", "n-1"}}, age, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := tokenVector()
			j.header = set(j.header, "kid", tt.kid)
			j.claims = append([]member{
				{"digest", strings.TrimPrefix(digest(body), "SHA-256=")}, {"iat", 1764565463}, {"exp", 1764565583},
			}, tt.claims...)
			if got := accepted(t, setup(t, tt.age), j.signed(t), tt.login).SeveralIDs; got != tt.want {
				t.Errorf("for several ids: %v, want %v", got, tt.want)
			}
		})
	}
}

// checkAccepted verifies the vector's token after each change. Pathless is whether the token must
// cover no path.
func checkAccepted(t *testing.T, v *auth.Verifier, tests map[string]func(*jwt), pathless bool) {
	t.Helper()
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := tokenVector()
			change(&j)
			c := accepted(t, v, j.signed(t), "demo_merchant_1")
			if c.Pathless != pathless || c.SeveralIDs != pathless || c.Evidence == "" {
				t.Errorf("covers no path: %v, for several ids: %v, want %v; evidence %q, want one", c.Pathless, c.SeveralIDs,
					pathless, c.Evidence)
			}
		})
	}
}

func TestTokenRefused(t *testing.T) {
	t.Parallel()
	v, p := setupWith(t, certified(), age), pairs()
	for name, change := range map[string]func(*jwt){
		"a lookup's token on a post": func(j *jwt) {
			j.Body, j.claims = nil, set(set(j.claims, "digest", nil), "request-resource-path", nil)
		},
		"wrong secret":    func(j *jwt) { j.signer = hmacWith([]byte("another secret of thirty-two byt")) },
		"unknown kid":     func(j *jwt) { j.header = set(j.header, "kid", "unknown") },
		"no kid":          func(j *jwt) { j.header = set(j.header, "kid", nil) },
		"alg none":        func(j *jwt) { j.header = set(j.header, "alg", "none") },
		"alg None":        func(j *jwt) { j.header = set(j.header, "alg", "None") },
		"no alg":          func(j *jwt) { j.header = set(j.header, "alg", nil) },
		"alg of elliptic": func(j *jwt) { j.header = set(j.header, "alg", "ES256") },
		"public key as secret": func(j *jwt) {
			j.header, j.signer = set(j.header, "kid", "1700000000000123"), hmacWith([]byte(p[0].pem))
		},
		"empty secret": func(j *jwt) {
			j.header, j.signer = set(j.header, "kid", "1700000000000123"), hmacWith(nil)
		},
		"RS256 by the secret": func(j *jwt) { j.header, j.signer = set(j.header, "alg", "RS256"), p[0].sign },
		"another's certificate": func(j *jwt) {
			j.header = []member{{"alg", "RS256"}, {"kid", "1700000000000123"}}
			j.signer = p[2].sign
		},
		"unregistered leaf": func(j *jwt) { legacy(j, p[2], date) },
		"leaf of another": func(j *jwt) {
			legacy(j, p[2], date)
			j.header = set(j.header, "x5c", []string{base64.StdEncoding.EncodeToString(p[0].der)})
		},
		"leaf, not base64":       func(j *jwt) { legacy(j, p[0], date); j.header = set(j.header, "x5c", []string{"!"}) },
		"empty x5c":              func(j *jwt) { legacy(j, p[0], date); j.header = set(j.header, "x5c", []string{}) },
		"crit":                   func(j *jwt) { j.header = set(set(j.header, "crit", []string{"b64"}), "b64", true) },
		"its own key":            ownKey(p[2]),
		"expired":                func(j *jwt) { j.claims = set(j.claims, "exp", now.Add(-6*time.Minute).Unix()) },
		"expires in a year":      func(j *jwt) { j.claims = set(j.claims, "exp", now.AddDate(1, 0, 0).Unix()) },
		"never expires":          func(j *jwt) { j.claims = set(j.claims, "exp", nil) },
		"expires at NaN":         func(j *jwt) { j.claims = set(j.claims, "exp", "NaN") },
		"expires at a word":      func(j *jwt) { j.claims = set(j.claims, "exp", "tomorrow") },
		"stale":                  func(j *jwt) { j.claims = set(j.claims, "iat", now.Add(-age-time.Second).Unix()) },
		"legacy, stale":          func(j *jwt) { legacy(j, p[0], now.Add(-age-time.Second).Format(http.TimeFormat)) },
		"legacy, undated":        func(j *jwt) { legacy(j, p[0], date); j.claims = set(j.claims, "iat", nil) },
		"legacy, anything":       func(j *jwt) { legacy(j, p[0], "today") },
		"made at a word":         func(j *jwt) { j.claims = set(j.claims, "iat", "today") },
		"starts at a word":       func(j *jwt) { j.claims = set(j.claims, "nbf", "in a while") },
		"another path":           func(j *jwt) { j.claims = set(j.claims, "request-resource-path", "/pts/v2/credits") },
		"another method":         func(j *jwt) { j.claims = set(j.claims, "request-method", "GET") },
		"another host":           func(j *jwt) { j.claims = set(j.claims, "request-host", "other.example") },
		"another issuer":         func(j *jwt) { j.claims = set(j.claims, "iss", "demo_merchant_2") },
		"another merchant":       func(j *jwt) { j.claims = set(j.claims, "v-c-merchant-id", "demo_merchant_2") },
		"no digest":              func(j *jwt) { j.claims = set(j.claims, "digest", nil) },
		"digest with its label":  func(j *jwt) { j.claims = set(j.claims, "digest", digest(body)) },
		"digest of another kind": func(j *jwt) { j.claims = set(j.claims, "digestAlgorithm", "MD5") },
		"digest twice":           func(j *jwt) { j.claims = append(slices.Clone(j.claims), j.claims[0]) },
		"endless nonce":          func(j *jwt) { j.claims = set(j.claims, "jti", strings.Repeat("x", 300)) },
		"endless token":          func(j *jwt) { j.claims = set(j.claims, "x", strings.Repeat("x", 20000)) },
		"claims in a list":       func(j *jwt) { j.claims = set(j.claims, "iss", []string{"demo_merchant_1"}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := tokenVector()
			change(&j)
			refused(t, v, j.signed(t))
		})
	}
}

// ownKey signs with a key that the token itself contains.
func ownKey(p pair) func(*jwt) {
	return func(j *jwt) {
		n, e := base64.RawURLEncoding.EncodeToString(p.key.N.Bytes()), "AQAB"
		j.header = []member{
			{"alg", "RS256"},
			{"kid", "1700000000000123"},
			{"jwk", map[string]string{"kty": "RSA", "n": n, "e": e}},
		}
		j.signer = p.sign
	}
}

func TestTokenOfAnotherRequest(t *testing.T) {
	t.Parallel()
	v := setup(t, age)
	for name, change := range map[string]func(*auth.Request){
		"a byte of the body": func(r *auth.Request) { r.Body = []byte(strings.Replace(body, "102.21", "902.21", 1)) },
		"no body":            func(r *auth.Request) { r.Body = nil },
		"path":               func(r *auth.Request) { r.Target = "/pts/v2/credits" },
		"method":             func(r *auth.Request) { r.Method = http.MethodPut },
		"claims cut off":     func(r *auth.Request) { editToken(r, func(p []string) []string { return p[:2] }) },
		"no signature": func(r *auth.Request) {
			editToken(r, func(p []string) []string { return []string{p[0], p[1], ""} })
		},
		"a part more": func(r *auth.Request) { editToken(r, func(p []string) []string { return append(p, p[2]) }) },
		"Bearer Bearer": func(r *auth.Request) {
			r.Header.Set("Authorization", "Bearer "+r.Header.Get("Authorization"))
		},
		"Basic": func(r *auth.Request) {
			r.Header.Set("Authorization", "Basic"+r.Header.Get("Authorization")[6:])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := tokenVector().signed(t)
			change(&r)
			refused(t, v, r)
		})
	}
}

func editToken(r *auth.Request, change func([]string) []string) {
	parts := strings.Split(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), ".")
	r.Header.Set("Authorization", "Bearer "+strings.Join(change(parts), "."))
}

func TestTokenOfAPortfolio(t *testing.T) {
	t.Parallel()
	v, p := setupWith(t, certified(), age), pairs()
	j := tokenVector()
	j.header, j.signer = []member{{"alg", "RS256"}, {"kid", "11259376"}}, p[1].sign
	j.claims = set(j.claims, "iss", "demo_merchant_2")
	accepted(t, v, j.signed(t), "demo_merchant_1")
	j.claims = set(j.claims, "v-c-merchant-id", "unknown")
	refused(t, v, j.signed(t))
}

func TestTokenRequestsAnEncryptedResponse(t *testing.T) {
	t.Parallel()
	v, p := setupWith(t, certified(), age), pairs()
	for kid, want := range map[string]bool{"responses": true, "unknown": false, "": false} {
		j := tokenVector()
		j.claims = set(j.claims, "v-c-response-mle-kid", kid)
		c := accepted(t, v, j.signed(t), "demo_merchant_1")
		if got := c.ResponseKey != nil && c.ResponseKey.Equal(p[0].key.Public()) && c.ResponseKID == kid; got != want {
			t.Errorf("kid %q: encrypted to the merchant's key: %v, want %v", kid, got, want)
		}
	}
}

// An expired certificate verifies nothing.
func TestTokenOfAnExpiredCertificate(t *testing.T) {
	t.Parallel()
	v, p := setupWith(t, certified(), 0), pairs()
	j := tokenVector()
	legacy(&j, p[0], date)
	accepted(t, v, j.signed(t), "demo_merchant_1")
	refused(t, setupAt(t, certified(), 0, now.Add(2*time.Hour)), j.signed(t))
}
