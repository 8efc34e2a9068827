package keyapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

type responseKey struct {
	Object, Kid, Alg, Status string
	Default                  bool
	Challenge                *struct {
		JWE       string
		ExpiresAt string `json:"expires_at"`
	}
}

func (k *responseKey) UnmarshalJSON(b []byte) error {
	type plain responseKey
	return json.Unmarshal(b, (*plain)(k), json.MatchCaseInsensitiveNames(true))
}

// newKey makes a merchant's key pair, and the body that registers its public key.
func newKey(t *testing.T) (*ecdsa.PrivateKey, string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	jwk, err := jose.JSONWebKey{Key: private.Public()}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return private, `{"jwk":` + string(jwk) + `}`
}

func solve(t *testing.T, k responseKey, private any) string {
	t.Helper()
	obj, err := jose.ParseEncryptedCompact(k.Challenge.JWE, []jose.KeyAlgorithm{jose.ECDH_ES_A256KW},
		[]jose.ContentEncryption{jose.A256GCM})
	if err != nil {
		t.Fatal(err)
	}
	text, err := obj.Decrypt(private)
	if err != nil {
		t.Fatal(err)
	}
	return `{"answer":"` + string(text) + `"}`
}

const tenant = "mer_01jd8m3k2q4r5/live"

func TestResponseKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	noKey := func(kid string) {
		t.Helper()
		if _, err := b.keys.ResponseKey(t.Context(), tenant, kid); !errors.Is(err, engine.ErrNoKey) {
			t.Errorf("got %v, want no key", err)
		}
	}
	var kids []string
	for i := range 2 {
		private, body := newKey(t)
		made := b.do(t, "sk", "POST", response, body, "Idempotency-Key", fmt.Sprint("k", i))
		k := MustDecode[responseKey](t, made, 201)
		if k.Object != "mle_response_key" || k.Status != "pending" || k.Default || k.Alg != "ECDH-ES+A256KW" ||
			k.Challenge.ExpiresAt == "" {
			t.Errorf("got %s", made.body)
		}
		if again := b.do(t, "sk", "POST", response, body, "Idempotency-Key", fmt.Sprint("k", i)); again.body != made.body {
			t.Errorf("got %s, want the same challenge", again.body)
		}
		wantContract[v1.MLEResponseKey](t, made)
		wantContract[v1.MLEResponseKeyList](t, b.do(t, "sk", "GET", response, ""))
		noKey(k.Kid) // it is unproven
		path := response + "/" + k.Kid + "/challenge"
		wantRefusal(t, b.do(t, "sk", "POST", path, `{"answer":"guess"}`), 400, "mle_challenge_failed", "answer")
		wantRefusal(t, b.do(t, "test", "POST", path, solve(t, k, private)), 404, "not_found", "kid")
		active := MustDecode[responseKey](t, b.do(t, "sk", "POST", path, solve(t, k, private)), 200)
		if active.Status != "active" || !active.Default || active.Challenge != nil {
			t.Errorf("got %+v", active)
		}
		wantRefusal(t, b.do(t, "sk", "POST", path, solve(t, k, private)), 409, "mle_response_key_exists", "")
		wantRefusal(t, b.do(t, "sk", "POST", response, body), 409, "mle_response_key_exists", "")
		kids = append(kids, k.Kid)
		for _, kid := range kids {
			if got, err := b.keys.ResponseKey(t.Context(), tenant, kid); err != nil || got.KeyID != kid ||
				got.Algorithm != "ECDH-ES+A256KW" {
				t.Errorf("got %+v, %v", got, err)
			}
		}
		if got, err := b.keys.ResponseKey(t.Context(), tenant, ""); err != nil || got.KeyID != k.Kid {
			t.Errorf("newest: got %+v, %v", got, err)
		}
		if cur := MustDecode[key](t, b.do(t, "sk", "GET", current, ""), 200); cur.ResponseKey.Kid == nil ||
			*cur.ResponseKey.Kid != k.Kid {
			t.Errorf("got %+v", cur.ResponseKey)
		}
	}
	list := MustDecode[struct {
		Data []responseKey `json:"data"`
	}](t, b.do(t, "reader", "GET", response, ""), 200).Data
	if len(list) != 2 || list[0].Kid != kids[1] || !list[0].Default || list[1].Default {
		t.Errorf("got %+v", list)
	}
	wantRefusal(t, b.do(t, "test", "DELETE", response+"/"+kids[1], ""), 404, "not_found", "kid")
	if r := b.do(t, "sk", "DELETE", response+"/"+kids[1], ""); r.status != 200 ||
		!strings.Contains(r.body, `"deleted":true`) {
		t.Errorf("got %+v", r)
	}
	wantRefusal(t, b.do(t, "sk", "DELETE", response+"/"+kids[1], ""), 404, "not_found", "kid")
	noKey(kids[1])
	if got, err := b.keys.ResponseKey(t.Context(), tenant, ""); err != nil || got.KeyID != kids[0] {
		t.Errorf("newest that is left: got %+v, %v", got, err)
	}
	if n := strings.Count(b.log.String(), "level=ERROR"); n != 0 {
		t.Errorf("the log: %s", b.log)
	}
}

func TestChallengeExpires(t *testing.T) {
	t.Parallel()
	b := setup(t)
	private, body := newKey(t)
	k := MustDecode[responseKey](t, b.do(t, "sk", "POST", response, body), 201)
	path := response + "/" + k.Kid + "/challenge"
	b.clock.Advance(10 * time.Minute)
	wantRefusal(t, b.do(t, "sk", "POST", path, solve(t, k, private)), 400, "mle_challenge_failed", "answer")
	next := MustDecode[responseKey](t, b.do(t, "sk", "POST", response, body), 201)
	wantRefusal(t, b.do(t, "sk", "POST", path, solve(t, k, private)), 400, "mle_challenge_failed", "answer")
	b.clock.Advance(10*time.Minute - time.Millisecond)
	MustDecode[responseKey](t, b.do(t, "sk", "POST", path, solve(t, next, private)), 200)
	if r := b.do(t, "sk", "DELETE", response+"/"+k.Kid, ""); r.status != 200 {
		t.Fatal(r)
	}
	// deleted keys can be registered again, with proof
	again := MustDecode[responseKey](t, b.do(t, "sk", "POST", response, body), 201)
	if again.Status != "pending" {
		t.Errorf("got %+v", again)
	}
}

// TestRegisterExponent checks that the largest usable RSA exponent is accepted, and a larger one
// rejected.
func TestRegisterExponent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	body := func(e string) string {
		return `{"jwk":{"kty":"RSA","n":"` + base64.RawURLEncoding.EncodeToString(key.N.Bytes()) + `","e":"` + e + `"}}`
	}
	MustDecode[responseKey](t, b.do(t, "sk", "POST", response, body("f____w")), 201)
	wantRefusal(t, b.do(t, "sk", "POST", response, body("gAAAAQ")), 400, "invalid_value", "jwk.e")
}

func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for body, want := range map[string][2]string{
		`{}`:                             {"missing_field", "jwk"},
		`{"jwk":{"kty":"oct","k":"AQ"}}`: {"invalid_value", "jwk.k"},
		`{"jwk":{"b":[0` + strings.Repeat(",0", 10_000) + "]}}":                             {"invalid_json", ""},
		`{"jwk":` + strings.Repeat(`{"b":`, 32) + "1" + strings.Repeat(`,"a":1}`, 32) + "}": {"invalid_json", ""},
		`{"jwk":{"kty":"EC","crv":"P-521"}}`:                                                {"invalid_value", "jwk.crv"},
		`{"jwk":"x"}`:                                                                       {"invalid_value", "jwk"},
		`{"jwk":{"kty":"EC","d":"x"}}`:                                                      {"invalid_value", "jwk.d"},
	} {
		wantRefusal(t, b.do(t, "sk", "POST", response, body), 400, want[0], want[1])
	}
	for range keyring.MaxResponseKeys {
		_, body := newKey(t)
		MustDecode[responseKey](t, b.do(t, "sk", "POST", response, body), 201)
	}
	_, body := newKey(t)
	wantRefusal(t, b.do(t, "sk", "POST", response, body), 409, "mle_response_key_limit", "")
	b.clock.Advance(10*time.Minute + time.Millisecond) // expired unproven keys do not count
	MustDecode[responseKey](t, b.do(t, "sk", "POST", response, body), 201)
}
