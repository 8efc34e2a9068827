package standalone_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/browser"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// shopPage is a page of another origin than the service. call sends a request, as a merchant's page
// does. encrypt makes a JWE with the browser's own cryptography.
const shopPage = `<!doctype html><html lang="en"><title>Shop</title><script>
async function call(url, method, key, body, more) {
  try {
    const headers = {Authorization: "Bearer " + key, "Content-Type": "application/json", ...more};
    const r = await fetch(url, {method, headers, body: body || undefined});
    return {status: r.status, body: await r.text(), request: r.headers.get("Request-Id") ?? "",
      rate: r.headers.get("RateLimit") ?? "", retry: r.headers.get("Retry-After") ?? ""};
  } catch (e) { return {blocked: e.name}; }
}
const text = new TextEncoder(), ec = {name: "ECDH", namedCurve: "P-256"};
const base64 = (b) => btoa(String.fromCharCode(...new Uint8Array(b))).replace(/\+/g, "-").replace(/\//g, "_")
  .replace(/=/g, "");
const uint32 = (n) => [n >>> 24, n >>> 16 & 255, n >>> 8 & 255, n & 255];
async function encrypt(key, plain) {
  const {kty, crv, x, y} = key.jwk;
  const theirs = await crypto.subtle.importKey("jwk", {kty, crv, x, y}, ec, false, []);
  const pair = await crypto.subtle.generateKey(ec, true, ["deriveBits"]);
  const shared = await crypto.subtle.deriveBits({name: "ECDH", public: theirs}, pair.privateKey, 256);
  const alg = text.encode(key.alg); // RFC 7518, 4.6.2
  const info = [...uint32(1), ...new Uint8Array(shared), ...uint32(alg.length), ...alg, ...uint32(0), ...uint32(0),
    ...uint32(256)];
  const derived = await crypto.subtle.digest("SHA-256", new Uint8Array(info));
  const kek = await crypto.subtle.importKey("raw", derived, "AES-KW", false, ["wrapKey"]);
  const cek = await crypto.subtle.generateKey({name: "AES-GCM", length: 256}, true, ["encrypt"]);
  const wrapped = await crypto.subtle.wrapKey("raw", cek, kek, "AES-KW");
  const own = await crypto.subtle.exportKey("jwk", pair.publicKey);
  const epk = {kty: own.kty, crv: own.crv, x: own.x, y: own.y};
  const head = base64(text.encode(JSON.stringify({alg: key.alg, enc: "A256GCM", kid: key.kid, epk})));
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const sealed = await crypto.subtle.encrypt({name: "AES-GCM", iv, additionalData: text.encode(head)}, cek,
    text.encode(plain));
  return [head, base64(wrapped), base64(iv), base64(sealed.slice(0, -16)), base64(sealed.slice(-16))].join(".");
}
</script>`

// pageResponse is the part of a response that the browser lets a page read.
type pageResponse struct {
	Status               int
	Body                 string
	Request, Rate, Retry string
	Blocked              string // the name of the error if the browser shows no response
}

// shop is a merchant's page, open in a browser, and the service that it calls.
type shop struct {
	*browser.Tab

	p *process
}

// openShop opens a page of another origin.
func openShop(t *testing.T, b *browser.Tab, p *process) *shop {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(shopPage))
	}))
	t.Cleanup(server.Close)
	b.Open(t, server.URL)
	return &shop{b, p}
}

// call makes the page send a request. fields are further header fields of a JavaScript object.
func (s *shop) call(t *testing.T, method, path, key, body, fields string) pageResponse {
	t.Helper()
	script := fmt.Sprintf("call(%q, %q, %q, %q, {%s})", s.p.HTTP+path, method, key, body, fields)
	got := browser.Read[pageResponse](t, s.Tab, script)
	if got.Blocked == "" && got.Request == "" {
		t.Errorf("%s %s: the page cannot read Request-Id: %+v", method, path, got)
	}
	return got
}

// want checks the status of a response and a part of its body.
func (s pageResponse) want(t *testing.T, status int, part string) pageResponse {
	t.Helper()
	if s.Status != status || !strings.Contains(s.Body, part) {
		t.Errorf("got %+v, want %d %s", s, status, part)
	}
	return s
}

// mustReadPage decodes the body of a response.
func mustReadPage[T any](t *testing.T, s pageResponse) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(s.Body), &out); err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	return out
}

// testSamplePage pays in core's sample page.
func testSamplePage(t *testing.T, b *browser.Tab, p *process) {
	t.Helper()
	browser.Pay(t, b, browser.Service{
		URL: p.HTTP, Client: http.DefaultClient, Secret: p.Keys.SKTest, Publishable: p.Keys.PKTest,
	})
}

// testOtherOrigin pays from a page of another origin: a token, also from an encrypted body, and its
// confirmation. The page can read every refusal. It can call no other endpoint.
func testOtherOrigin(t *testing.T, b *browser.Tab, p *process) {
	t.Helper()
	s, m, pk := openShop(t, b, p), merchantOf(t, p), p.Keys.PKTest
	const card = `{"card":{"number":"4111111111111111","exp_month":4,"exp_year":2031,"cvc":"123"}}`
	tokens := []v1.Token{
		mustReadPage[v1.Token](t, s.call(t, "POST", "/v1/tokens", pk, card, `"Idempotency-Key": "a token"`).want(t, 201, "")),
	}
	key := s.call(t, "GET", "/v1/mle/keys/current", pk, "", "").want(t, 200, "ECDH-ES+A256KW").Body
	jwe := browser.Read[string](t, s.Tab, fmt.Sprintf("encrypt(%s, %q)", key, card))
	tokens = append(tokens, mustReadPage[v1.Token](t, s.call(t, "POST", "/v1/tokens", pk, jwe,
		`"Content-Type": "application/jose", "X-SVC-MLE": "v1"`).want(t, 201, "")))
	s.call(t, "POST", "/v1/tokens", pk, "not a JWE", `"Content-Type": "application/jose", "X-SVC-MLE": "v1"`).
		want(t, 400, "mle_decrypt_failed")
	for i, token := range tokens {
		created := mustDecode[v1.Transaction](t, m.must(t, "POST", "/v1/transactions", "",
			`{"amount":1250,"currency":"usd","confirm":false}`))
		secret := created.ClientSecret.Reveal()
		confirm := fmt.Sprintf(`{"client_secret":%q,"payment_method":%q}`, secret, token.Value.Reveal())
		path := "/v1/transactions/" + created.ID + "/confirm"
		s.call(t, "POST", path, pk, strings.Replace(confirm, secret, "wrong", 1), "").
			want(t, 403, "invalid_client_secret")
		keyed := fmt.Sprintf(`"Idempotency-Key": "confirm %d"`, i)
		got := s.call(t, "POST", path, pk, confirm, keyed).want(t, 200, "captured")
		if got.Rate == "" {
			t.Errorf("the page cannot read RateLimit: %+v", got)
		}
	}
	s.call(t, "POST", "/v1/tokens", pk, strings.Replace(card, "1111", "1112", 1), "").want(t, 400, "invalid_card_number")
	s.call(t, "POST", "/v1/tokens", pk, strings.Repeat(" ", 300<<10), "").want(t, 413, "body_too_large")
	s.call(t, "POST", "/v1/tokens", "pk_test_unknown", card, "").want(t, 401, "invalid_api_key")
	s.call(t, "POST", "/v1/tokens", p.Keys.SKTest, card, "").want(t, 403, "secret_key_in_browser")
	s.call(t, "GET", "/v1/mle/keys/current", p.Keys.SKTest, "", "").want(t, 403, "secret_key_in_browser")
	own := browser.Read[string](t, s.Tab, "location.origin")
	for origin, c := range map[string]struct {
		token, key int // statuses
		code       string
	}{own: {201, 200, ""}, "https://shop.example": {403, 403, "origin_not_allowed"}} {
		made := mustDecode[v1.APIKey](t, m.must(t, "POST", "/v1/api_keys", "",
			fmt.Sprintf(`{"kind":"publishable","allowed_origins":[%q]}`, origin)))
		s.call(t, "POST", "/v1/tokens", made.Secret.Reveal(), card, "").want(t, c.token, c.code)
		s.call(t, "GET", "/v1/mle/keys/current", made.Secret.Reveal(), "", "").want(t, c.key, c.code)
	}
	for _, path := range []string{"/v1/transactions", "/v1/api_keys/current", "/v1/mle/keys"} {
		if got := s.call(t, "GET", path, pk, "", ""); got.Blocked != "TypeError" {
			t.Errorf("%s: got %+v, want the browser to block it", path, got)
		}
	}
}
