package enginetest

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// publishable is the API key of a payer.
var publishable = Field{"Authorization", "Bearer pk_test_1"}

// demand demands an encrypted response.
var demand = Field{"X-SVC-MLE-Response", "required"}

// derivedCases are responses under a key that is derived from the request.
func derivedCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	strict := derived(tb, "a strict merchant", w.EC, Strict, nil, demand)
	strict.Request.Path = PathStrictForOne
	chunked := derived(tb, "no length", w.EC, Keyless, nil, demand)
	chunked.Request.NoLength = true
	chunked.Has = slices.Delete(chunked.Has, 1, 2) // Envoy forwards it without a length
	return slices.Concat([]Case{
		strict, chunked,
		derived(tb, "P-256", w.EC, Keyless, nil, demand),
		derived(tb, "RSA", w.RSA, Keyless, nil, demand),
		derived(tb, "a publishable key", w.EC, Merchant, nil, demand, publishable),
		derived(tb, "a publishable key, RSA", w.RSA, Merchant, nil, demand, publishable),
		derived(tb, "the demand is bound", w.EC, Keyless, map[string]any{"rsp": "required"}, demand),
	}, derivedResponseCases(tb, w), derivedRefusals(tb, w))
}

// derivable returns an encrypted request and its content key.
func derivable(
	tb testing.TB, k Key, caller string, header map[string]any, fields ...Field,
) (r Request, contentKey []byte) {
	tb.Helper()
	contentKey = random(32)
	r = sent(Forge{Key: k, CEK: contentKey, Header: header}.Encrypt(tb, plaintext), fields...)
	r.Caller = caller
	return r, contentKey
}

// derived returns a case whose response key is derived.
func derived(tb testing.TB, name string, k Key, caller string, header map[string]any, fields ...Field) Case {
	tb.Helper()
	r, contentKey := derivable(tb, k, caller, header, fields...)
	c := passed(0, "derived key: "+name, r, plaintext)
	c.Derived, c.CTY = contentKey, "application/json"
	c.Has = append(c.Has, Field{"X-Svc-Int-Mle", "v1;kid=" + k.KID + ";merchant=" + caller + ";response=required"})
	return c
}

func derivedResponseCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	responds := func(name string, core Response, cty string) Case {
		c := derived(tb, name, w.EC, Keyless, nil, demand)
		c.Response, c.CTY = core, cty
		return c
	}
	broken := func(name string, core Response) Case {
		c := responds(name, core, "")
		return Case{
			Name: c.Name, Request: c.Request, Response: core, Status: 500, Code: "internal_error", AfterCore: true,
		}
	}
	text := Field{"Content-Type", "application/json"}
	empty := responds("204", Response{Status: 204}, "")
	empty.Derived = nil
	return []Case{
		empty,
		responds("an error of core's", Response{402, []Field{text}, `{"error":{"code":"card_declined"}}`},
			"application/json"),
		responds("a fault of core's", Response{500, []Field{text}, "{}"}, "application/json"),
		responds("another type", Response{200, []Field{{"Content-Type", "text/plain; charset=utf-8"}}, "text"}, "text/plain"),
		responds("as large as it may be", Response{200, []Field{text}, strings.Repeat("x", 1<<20)}, "application/json"),
		broken("too large", Response{200, []Field{text}, strings.Repeat("x", 1<<20+1)}),
		broken("a stream", Response{200, []Field{{"Content-Type", "text/event-stream"}}, "data: 1\n\n"}),
	}
}

// derivedRefusals are requests from which no response key can be derived.
func derivedRefusals(tb testing.TB, w *World) []Case {
	tb.Helper()
	kid := Field{"X-SVC-MLE-Response-Kid", w.ResponseKey.KID}
	refused := func(name, code string, r Request) Case {
		return Case{Row: 16, Name: "no response key: " + name, Request: r, Status: 400, Code: code}
	}
	get := func(caller string, fields ...Field) Request {
		return Request{Method: "GET", Path: Path, Caller: caller, Fields: append(fields, demand)}
	}
	post := Request{
		Method: "POST", Path: Path, Caller: Keyless, Body: plaintext,
		Fields: []Field{{"Content-Type", "application/json"}, demand},
	}
	named, _ := derivable(tb, w.EC, Merchant, nil, demand, publishable, kid)
	unknown, _ := derivable(tb, w.EC, Keyless, nil, demand, kid)
	bound, _ := derivable(tb, w.EC, Keyless, map[string]any{"rsp": w.ResponseKey.KID}, demand)
	removed, _ := derivable(tb, w.EC, Keyless, map[string]any{"rsp": "required"})
	return []Case{
		refused("no body", "mle_kid_unknown", get(Keyless)),
		refused("a body in the clear", "mle_kid_unknown", post),
		refused("a publishable key without a body", "mle_kid_unknown", get(Merchant, publishable)),
		refused("a publishable key names the merchant's", "mle_kid_unknown", named),
		refused("a secret key names another merchant's", "mle_kid_unknown", unknown),
		refused("the registered key in rsp has ended", "mle_decrypt_failed", bound),
		refused("the demand is removed", "mle_decrypt_failed", removed),
	}
}

// DecryptDerived decrypts the response to a request, a compact JWE with that content key.
func DecryptDerived(t *testing.T, contentKey []byte, request, token string) (header jose.Header, text string) {
	t.Helper()
	object, err := jose.ParseEncryptedCompact(token, []jose.KeyAlgorithm{jose.DIRECT},
		[]jose.ContentEncryption{jose.A256GCM})
	if err != nil {
		t.Fatalf("got %q, want a compact JWE: %v", short(token), err)
	}
	encoded, _ := object.Header.ExtraHeaders["salt"].(string)
	salt, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || len(salt) != 32 {
		t.Fatalf("salt: got %q, %v, want 32 bytes", encoded, err)
	}
	hash := sha256.Sum256([]byte(request))
	key, err := hkdf.Key(sha256.New, contentKey, salt, "causeway response v1"+kidOf(t, request)+string(hash[:]), 32)
	if err != nil {
		t.Fatal(err)
	}
	plaintext, err := object.Decrypt(key)
	if err != nil {
		t.Fatal(err)
	}
	return object.Header, string(plaintext)
}

// kidOf returns the kid of a compact JWE.
func kidOf(t *testing.T, token string) string {
	t.Helper()
	protected, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(protected)
	var header struct{ KID string }
	if err != nil || json.Unmarshal(text, &header) != nil {
		t.Fatalf("got %q, want a compact JWE", short(token))
	}
	return header.KID
}
