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

// derivedCases are responses under a key that is derived from the request.
func derivedCases(tb testing.TB, w *World) []Case {
	tb.Helper()
	required := Field{"X-SVC-MLE-Response", "required"}
	public := []Field{required, {"Authorization", "Bearer pk_test_1"}}
	// key returns a request of a caller and its content key.
	key := func(k Key, caller string, header map[string]any, fields ...Field) (Request, []byte) {
		cek := random(32)
		r := sent(Forge{Key: k, CEK: cek, Header: header}.Encrypt(tb, plaintext), fields...)
		r.Caller = caller
		return r, cek
	}
	derived := func(name string, k Key, caller string, header map[string]any, fields ...Field) Case {
		r, cek := key(k, caller, header, fields...)
		c := passed(0, "derived key: "+name, r, plaintext)
		c.Derived, c.CTY = cek, "application/json"
		merchant := caller
		if merchant == "" {
			merchant = Merchant
		}
		c.Has = append(c.Has, Field{"X-Svc-Int-Mle", "v1;kid=" + k.KID + ";merchant=" + merchant + ";response=required"})
		return c
	}
	responds := func(name string, core Response, cty string) Case {
		c := derived(name, w.EC, Keyless, nil, required)
		c.Response, c.CTY = core, cty
		return c
	}
	clear := func(c Case) Case {
		c.Derived, c.CTY = nil, ""
		return c
	}
	broken := func(name string, core Response) Case {
		c := responds(name, core, "")
		return Case{
			Name: c.Name, Request: c.Request, Response: core, Status: 500, Code: "internal_error", AfterCore: true,
		}
	}
	text := Field{"Content-Type", "application/json"}
	strict := derived("a strict merchant", w.EC, Strict, nil, required)
	strict.Request.Path = PathStrictForOne
	chunked := derived("no length", w.EC, Keyless, nil, required)
	chunked.Request.NoLength = true
	chunked.Has = slices.Delete(chunked.Has, 1, 2)
	return append([]Case{
		strict, chunked,
		derived("P-256", w.EC, Keyless, nil, required),
		derived("RSA", w.RSA, Keyless, nil, required),
		derived("a publishable key", w.EC, "", nil, public...),
		derived("a publishable key, RSA", w.RSA, "", nil, public...),
		derived("the demand is bound", w.EC, Keyless, map[string]any{"rsp": "required"}, required),
		responds("an error of core's", Response{402, []Field{text}, `{"error":{"code":"card_declined"}}`},
			"application/json"),
		responds("a fault of core's", Response{500, []Field{text}, "{}"}, "application/json"),
		responds("another type", Response{200, []Field{{"Content-Type", "text/plain; charset=utf-8"}}, "text"}, "text/plain"),
		responds("as large as it may be", Response{200, []Field{text}, strings.Repeat("x", 1<<20)}, "application/json"),
		clear(responds("204", Response{Status: 204}, "")),
		broken("too large", Response{200, []Field{text}, strings.Repeat("x", 1<<20+1)}),
		broken("a stream", Response{200, []Field{{"Content-Type", "text/event-stream"}}, "data: 1\n\n"}),
	}, derivedRefusals(tb, w, key)...)
}

// derivedRefusals are requests from which no response key can be derived.
func derivedRefusals(
	tb testing.TB, w *World, key func(Key, string, map[string]any, ...Field) (Request, []byte),
) []Case {
	tb.Helper()
	required, publishable := Field{"X-SVC-MLE-Response", "required"}, Field{"Authorization", "Bearer pk_test_1"}
	kid := Field{"X-SVC-MLE-Response-Kid", w.ResponseKey.KID}
	refused := func(name, code string, r Request) Case {
		return Case{Row: 16, Name: "no response key: " + name, Request: r, Status: 400, Code: code}
	}
	get := func(caller string, fields ...Field) Request {
		return Request{Method: "GET", Path: Path, Caller: caller, Fields: append(fields, required)}
	}
	post := Request{
		Method: "POST", Path: Path, Caller: Keyless, Body: plaintext,
		Fields: []Field{{"Content-Type", "application/json"}, required},
	}
	named, _ := key(w.EC, "", nil, required, publishable, kid)
	unknown, _ := key(w.EC, Keyless, nil, required, kid)
	bound, _ := key(w.EC, Keyless, map[string]any{"rsp": w.ResponseKey.KID}, required)
	removed, _ := key(w.EC, Keyless, map[string]any{"rsp": "required"})
	return []Case{
		refused("no body", "mle_kid_unknown", get(Keyless)),
		refused("a body in the clear", "mle_kid_unknown", post),
		refused("a publishable key without a body", "mle_kid_unknown", get("", publishable)),
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
