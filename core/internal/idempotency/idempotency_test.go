package idempotency_test

import (
	"bytes"
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
	for _, same := range []string{`{"b":{"d":[1,2],"c":"é"},"a":1}`, "{ \"a\" : 1,\n\t\"b\":{\"c\":\"\\u00e9\",\"d\":[1 ,2]}}"} {
		if !bytes.Equal(of("POST", "/v1/refunds", same), base) {
			t.Errorf("%s counts as another request", same)
		}
	}
	if !bytes.Equal(of("POST", "/", ``), of("POST", "/", `{ }`)) {
		t.Error("no body and an empty object count as two requests")
	}
	others := [][]byte{
		of("PUT", "/v1/refunds", `{"a":1,"b":{"c":"é","d":[1,2]}}`), of("POST", "/v1/refunds/", `{"a":1,"b":{"c":"é","d":[1,2]}}`),
		of("POST", "/v1/refunds", `{"a":1,"b":{"c":"é","d":[2,1]}}`), of("POST", "/v1/refunds", `{"a":"1","b":{"c":"é","d":[1,2]}}`),
		of("POST", "/v1/refunds", `{}`), of("POST", "/v1/refunds", `{`), of("POST", "/v1/refunds", `{ `),
		of("POSTT", "/v1/refunds", ``), of("POST", "T/v1/refunds", ``), of("POST", "/v1/refunds", `{"a":999999999999}`), of("POST", "/v1/refunds", `{"a":999999999998}`),
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

func TestFingerprintLeavesTheBodyAlone(t *testing.T) {
	t.Parallel()
	body := []byte(`{ "b":1, "a":2 }`)
	idempotency.Fingerprint([]byte("s"), "POST", "/", body)
	if got, want := string(body), `{ "b":1, "a":2 }`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
