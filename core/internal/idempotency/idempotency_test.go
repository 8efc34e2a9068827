package idempotency_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/idempotency"
)

func TestFingerprint(t *testing.T) {
	t.Parallel()
	secret := []byte("secret")
	of := func(method, path, body string) []byte {
		return idempotency.Fingerprint(secret, method, path, []byte(body))
	}
	base := of("POST", "/v1/refunds", `{"a":1,"b":{"c":"é","d":[1,2]}}`)
	for _, same := range []string{
		`{"b":{"d":[1,2],"c":"é"},"a":1}`,
		"{ \"a\" : 1,\n\t\"b\":{\"c\":\"\\u00e9\",\"d\":[1 ,2]}}",
	} {
		if !bytes.Equal(of("POST", "/v1/refunds", same), base) {
			t.Errorf("%s counts as another request", same)
		}
	}
	if !bytes.Equal(of("POST", "/", ``), of("POST", "/", `{ }`)) {
		t.Error("no body and an empty object count as two requests")
	}
	others := [][]byte{
		of("PUT", "/v1/refunds", `{"a":1,"b":{"c":"é","d":[1,2]}}`),
		of("POST", "/v1/refunds/", `{"a":1,"b":{"c":"é","d":[1,2]}}`),
		of("POST", "/v1/refunds", `{"a":1,"b":{"c":"é","d":[2,1]}}`),
		of("POST", "/v1/refunds", `{"a":"1","b":{"c":"é","d":[1,2]}}`),
		of("POST", "/v1/refunds", `{}`), of("POST", "/v1/refunds", `{`),
		of("POSTT", "/v1/refunds", ``), of("POST", "T/v1/refunds", ``), of("POST", "/v1/refunds", `{"a":999999999999}`),
		of("POST", "/v1/refunds", `{"a":999999999998}`),
		// one double
		of("POST", "/v1/refunds", `{"a":9007199254740993}`), of("POST", "/v1/refunds", `{"a":9007199254740992}`),
		of("POST", "/v1/refunds", `{"a":5e-324}`), of("POST", "/v1/refunds", `{"a":4e-324}`),
		idempotency.Fingerprint([]byte("another"), "POST", "/v1/refunds", nil),
	}
	seen := map[string]int{string(base): -1}
	for i, f := range others {
		if j, ok := seen[string(f)]; ok {
			t.Errorf("requests %d and %d have one fingerprint", i, j)
		}
		seen[string(f)] = i
	}
}

// TestFingerprintOfDeepBodies: a body that nests deeper than a request may is not treated as JSON.
// Its canonical form is not computed, because that takes quadratic time.
func TestFingerprintOfDeepBodies(t *testing.T) {
	t.Parallel()
	of := func(depth int, inner string) string {
		body := strings.Repeat(`{"b":`, depth) + inner + strings.Repeat(`,"a":1}`, depth)
		return string(idempotency.Fingerprint([]byte("pepper"), "POST", "/v1/transactions", []byte(body)))
	}
	if of(33, "1") != of(9000, "2") || of(33, "1") != of(0, "{") {
		t.Error("deep bodies have fingerprints of their own")
	}
	if of(32, "1") == of(32, "2") || of(32, "1") == of(0, "{") {
		t.Error("bodies of 32 levels have no fingerprints of their own")
	}
}

// TestFingerprintWithoutSecurityCodes checks that a code has no effect in any spelling, and that
// everything else has one.
func TestFingerprintWithoutSecurityCodes(t *testing.T) {
	t.Parallel()
	of := func(body string) string {
		return string(idempotency.Fingerprint([]byte("pepper"), "POST", "/v1/transactions", []byte(body)))
	}
	for base, same := range map[string][]string{
		`{"a":1,"card":{"number":"4"}}`: {
			`{"card":{"number":"4","cvc":"123"},"a":1}`, `{"a":1,"card":{"cvc":"321","number":"4"}}`,
			`{"a":1,"card":{"c\u0076c":321,"number":"4"}}`,
			`{"a":1,"c\u0061rd":{"cvc":{"x":[1]},"number":"4"}}`, `{"a":1,"card":{"number":"4"},"card_cvc":"12"}`,
		},
		`{}`: {`{"card_cvc":"123"}`, ` { "card_cvc" : "321" } `},
		// no JSON
		`{`: {
			`{ `, `{"card":{"cvc":"123"}`, `{"card_cvc":"123"`, `{"card_cvc":"1","card_cvc":"2"}`,
			"{\"card_cvc\":\"\xff\"}",
		},
	} {
		for _, body := range same {
			if of(body) != of(base) {
				t.Errorf("%s counts as another request than %s", body, base)
			}
		}
	}
	for _, pair := range [][2]string{
		{`{"metadata":{"cvc":"1"}}`, `{"metadata":{"cvc":"2"}}`},
		{`{"metadata":{"card_cvc":"1"}}`, `{"metadata":{}}`},
		{`{"a":1,"card":{"cvc":"1"}}`, `{"a":2,"card":{"cvc":"1"}}`},
		{`{"card":{"number":"4","cvc":"1"}}`, `{"card":{"number":"5","cvc":"1"}}`},
		{`{"card":{"cvc":"1"}}`, `{}`},
		{`{"cvc":"1"}`, `{}`},
		{`{`, `{}`},
	} {
		if of(pair[0]) == of(pair[1]) {
			t.Errorf("%s and %s count as one request", pair[0], pair[1])
		}
	}
}

func TestFingerprintLeavesTheBodyAlone(t *testing.T) {
	t.Parallel()
	body := []byte(`{ "b":1, "a":2 }`)
	idempotency.Fingerprint([]byte("s"), "POST", "/", body)
	if got, want := string(body), `{ "b":1, "a":2 }`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
