package idempotency_test

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/idempotency"
)

func TestKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 255)
	for _, c := range []struct {
		lines []string
		want  string
		err   error
	}{
		{nil, "", nil},
		{[]string{"k"}, "k", nil},
		{[]string{" ~"}, " ~", nil},
		{[]string{long}, long, nil},
		{[]string{long + "k"}, "", idempotency.ErrInvalid},
		{[]string{""}, "", idempotency.ErrInvalid},
		{[]string{"a\x00"}, "", idempotency.ErrInvalid},
		{[]string{"a\x1f"}, "", idempotency.ErrInvalid},
		{[]string{"a\x7f"}, "", idempotency.ErrInvalid},
		{[]string{"é"}, "", idempotency.ErrInvalid},
		{[]string{"a", "a"}, "", idempotency.ErrSeveral},
		{[]string{"", ""}, "", idempotency.ErrSeveral},
	} {
		got, err := idempotency.Key(http.Header{idempotency.Header: c.lines})
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%q: got %q, %v, want %q, %v", c.lines, got, err, c.want, c.err)
		}
	}
}

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
