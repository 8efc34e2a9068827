package keyapi_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/mle-filter/internal/identity"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyapi"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

var birth = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// apiKeys are the API keys of the test core, with its response to each.
var apiKeys = map[string]string{
	"sk":     `"mode":"live","kind":"secret","scopes":["mle:write"]`,
	"test":   `"mode":"test","kind":"secret","scopes":["mle:write"]`,
	"reader": `"mode":"live","kind":"secret","scopes":["transactions:read"]`,
	"pk":     `"mode":"live","kind":"publishable","scopes":["tokens:create"]`,
}

func fakeCore(w http.ResponseWriter, r *http.Request) {
	fields, ok := apiKeys[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if !ok {
		w.WriteHeader(401)
		_, _ = io.WriteString(w, `{"error":{"type":"authentication_error","code":"invalid_api_key","message":"The API key `+
			`is missing or invalid.","status":401,"request_id":"req"}}`)
		return
	}
	if len(r.Header["Origin"]) > 0 && strings.Contains(fields, `"kind":"secret"`) {
		w.WriteHeader(403)
		_, _ = io.WriteString(w, `{"error":{"type":"permission_error","code":"secret_key_in_browser","message":"A secret `+
			`key came with an Origin header.","status":403,"request_id":"req"}}`)
		return
	}
	_, _ = fmt.Fprintf(w, `{"id":"key_01jd8m3k2q4r5","object":"api_key","merchant":"mer_01jd8m3k2q4r5",%s,`+
		`"hint":"abcd","status":"active","created_at":"2026-11-21T09:30:00.000Z"}`, fields)
}

type bench struct {
	server *httptest.Server
	keys   *keyring.Keyring
	clock  *clock.Fake
	log    *bytes.Buffer
	ended  *sync.Map // the credentials that core rejects from now on
}

func setup(t *testing.T) bench {
	t.Helper()
	c := clock.NewFake(birth)
	db, err := keystore.Open(t.Context(), keystore.Config{Source: storetest.SQLite(t), Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	keys, err := keyring.Open(t.Context(), keyring.Config{
		Store: db, KEK: bytes.Repeat([]byte{1}, 32), Clock: c, RSABits: 2048, Spares: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := &sync.Map{}
	core := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, gone := ended.Load(r.Header.Get("Authorization")); gone {
			r.Header.Del("Authorization")
		}
		fakeCore(w, r)
	}))
	t.Cleanup(core.Close)
	log := &bytes.Buffer{}
	api := keyapi.New(keyapi.Config{
		Keys: keys, Identity: identity.New(identity.Config{V1: core.URL, Client: core.Client(), Clock: c}),
		Log:          slog.New(slog.NewTextHandler(log, nil)),
		Requirements: func() []v1.MLERequirement { return nil },
	})
	s := httptest.NewServer(api)
	t.Cleanup(s.Close)
	return bench{s, keys, c, log, ended}
}

type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request with an API key. header alternates names and values.
func (b bench) do(t *testing.T, as, method, path, body string, header ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if as != "" {
		req.Header.Set("Authorization", "Bearer "+as)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	resp, err := b.server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read below
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(text)}
}

func MustDecode[T any](t *testing.T, r reply, status int) (out T) {
	t.Helper()
	if r.status != status {
		t.Fatalf("got %d %s, want %d", r.status, r.body, status)
	}
	if err := json.Unmarshal([]byte(r.body), &out); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
	return out
}

// wantContract checks that a response has only fields of the contract.
func wantContract[T any](t *testing.T, r reply) {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(r.body), &v, json.RejectUnknownMembers(true)); err != nil {
		t.Errorf("%s: %v", r.body, err)
	}
}

func wantRefusal(t *testing.T, r reply, status int, code, param string) {
	t.Helper()
	e := MustDecode[v1.ErrorBody](t, r, status).Error
	got := ""
	if e.Param != nil {
		got = *e.Param
	}
	if e.Code != code || got != param || e.Status != status || e.Message == "" || !e.Type.Valid() {
		t.Errorf("got %s, want %s at %q", r.body, code, param)
	}
	if r.header.Get("Cache-Control") != "no-store" || (status == 401) != (r.header.Get("WWW-Authenticate") == "Bearer") {
		t.Errorf("%s: header %v", code, r.header)
	}
}

// key has the fields of a key that the tests read.
type key struct {
	Object, Kid, Alg, Status string
	JWK                      jose.JSONWebKey
	Enc                      []string
	NotBefore                string `json:"not_before"`
	RotateAfter              string `json:"rotate_after"`
	ExpiresAt                string `json:"expires_at"`
	Next                     *struct {
		Kid       string
		NotBefore string `json:"not_before"`
		JWK       jose.JSONWebKey
	}
	Previous *struct {
		Kid       string
		ExpiresAt string `json:"expires_at"`
	}
	ResponseKey struct{ Kid *string } `json:"response_key"`
}

func (k *key) UnmarshalJSON(b []byte) error {
	type plain key
	return json.Unmarshal(b, (*plain)(k), json.MatchCaseInsensitiveNames(true))
}

const (
	current  = "/v1/mle/keys/current"
	all      = "/v1/mle/keys"
	rotate   = "/v1/mle/keys/rotate"
	response = "/v1/mle/response_keys"
)

func TestCurrent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.do(t, "sk", "GET", current, "")
	k := MustDecode[key](t, r, 200)
	if k.Object != "mle_key" || k.Alg != "ECDH-ES+A256KW" || k.Status != "current" || k.JWK.KeyID != k.Kid ||
		k.JWK.Use != "enc" || !k.JWK.IsPublic() ||
		!slices.Equal(k.Enc, []string{"A256GCM"}) || k.Next != nil || k.ResponseKey.Kid != nil ||
		k.NotBefore != "2026-11-21T09:30:00.000Z" || k.RotateAfter != "2027-02-19T09:30:00.000Z" ||
		k.ExpiresAt != "2027-03-21T09:30:00.000Z" {
		t.Errorf("got %s", r.body)
	}
	wantContract[v1.MLEKey](t, r)
	if !strings.Contains(r.body, `"response_key":{"kid":null}`) || strings.Contains(r.body, `"d"`) {
		t.Errorf("got %s", r.body)
	}
	h := r.header
	if h.Get("Cache-Control") != "private, max-age=3600, must-revalidate" || h.Get("Vary") != "Authorization" ||
		h.Get("Content-Type") != "application/json" {
		t.Errorf("got %v", h)
	}
	same := b.do(t, "pk", "GET", current, "", "If-None-Match", `"x", W/`+h.Get("ETag"))
	if same.status != 304 || same.body != "" || same.header.Get("ETag") != h.Get("ETag") ||
		same.header.Get("Cache-Control") != h.Get("Cache-Control") {
		t.Errorf("got %+v, want 304", same)
	}
	if other := MustDecode[key](t, b.do(t, "test", "GET", current, ""), 200); other.Kid == k.Kid {
		t.Error("test and live mode share a key")
	}
	wait := b.do(t, "sk", "GET", current+"?alg=RSA-OAEP-256", "")
	wantRefusal(t, wait, 503, "mle_unavailable", "")
	if wait.header.Get("Retry-After") != "1" {
		t.Errorf("got %v", wait.header)
	}
	if err := b.keys.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := MustDecode[key](t, b.do(t, "sk", "GET", current+"?alg=RSA-OAEP-256", ""), 200); got.Alg != "RSA-OAEP-256" ||
		got.JWK.Algorithm != got.Alg {
		t.Errorf("got %+v", got)
	}
	b.clock.Advance(80 * 24 * time.Hour)
	if err := b.keys.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	r = b.do(t, "reader", "GET", current, "")
	k = MustDecode[key](t, r, 200)
	if k.Next == nil || k.Next.JWK.KeyID != k.Next.Kid || k.Next.NotBefore != "2027-02-23T09:30:00.000Z" ||
		k.RotateAfter != k.Next.NotBefore || r.header.Get("ETag") == h.Get("ETag") {
		t.Errorf("got %s", r.body)
	}
	wantContract[v1.MLEKey](t, r)
	r = b.do(t, "sk", "GET", all, "")
	wantContract[v1.JWKSet](t, r)
	set := MustDecode[jose.JSONWebKeySet](t, r, 200)
	if len(set.Keys) != 3 || set.Keys[0].KeyID != k.Kid || set.Keys[1].KeyID != k.Next.Kid ||
		set.Keys[2].Algorithm != "RSA-OAEP-256" {
		t.Errorf("got %s", r.body)
	}
	if h := r.header; h.Get("Content-Type") != "application/jwk-set+json" || h.Get("ETag") == "" ||
		!strings.HasPrefix(h.Get("Cache-Control"), "private") {
		t.Errorf("got %v", h)
	}
}

// TestCurrentQuery checks that an invalid query gets no key, and not the key of the default
// algorithm.
func TestCurrentQuery(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for query, want := range map[string][2]string{
		"alg=RSA-OAEP-256%zz":          {"unknown_parameter", ""},
		"alg=RSA-OAEP-256;x":           {"unknown_parameter", ""},
		"x;alg=RSA-OAEP-256":           {"unknown_parameter", ""},
		"alg=%zz":                      {"unknown_parameter", ""},
		"alg=RSA-OAEP-256&%":           {"unknown_parameter", ""},
		"x":                            {"unknown_parameter", "x"},
		"Alg=RSA-OAEP-256":             {"unknown_parameter", "Alg"},
		"alg=RSA-OAEP-256&alg=ECDH-ES": {"unknown_parameter", "alg"},
		"alg=":                         {"invalid_value", "alg"},
		"alg":                          {"invalid_value", "alg"},
		"alg=RSA-OAEP":                 {"invalid_value", "alg"},
		"alg=RSA-OAEP-256%20":          {"invalid_value", "alg"},
		"alg=RSA-OAEP-256%00":          {"invalid_value", "alg"},
	} {
		wantRefusal(t, b.do(t, "sk", "GET", current+"?"+query, ""), 400, want[0], want[1])
	}
	for range 40 { // each rejection names the first fault, in any order of the map
		wantRefusal(t, b.do(t, "sk", "GET", current+"?y&x", ""), 400, "unknown_parameter", "x")
	}
	for _, query := range []string{"?", "?alg=ECDH-ES+A256KW", "?alg=ECDH-ES%2BA256KW", "?&alg=ECDH-ES+A256KW&"} {
		if got := MustDecode[key](t, b.do(t, "sk", "GET", current+query, ""), 200); got.Alg != "ECDH-ES+A256KW" {
			t.Errorf("%s: got %s", query, got.Alg)
		}
	}
}

func TestAccess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		as, method, path string
		status           int
		code             string
	}{
		{"", "GET", current, 401, "invalid_api_key"},
		{"nobody", "GET", current, 401, "invalid_api_key"},
		{"nobody", "POST", rotate, 401, "invalid_api_key"},
		{"pk", "GET", all, 403, "publishable_key_not_allowed"},
		{"pk", "POST", rotate, 403, "publishable_key_not_allowed"},
		{"pk", "GET", response, 403, "publishable_key_not_allowed"},
		{"pk", "POST", response, 403, "publishable_key_not_allowed"},
		{"reader", "POST", rotate, 403, "insufficient_scope"},
		{"reader", "POST", response, 403, "insufficient_scope"},
		{"reader", "DELETE", response + "/x", 403, "insufficient_scope"},
		{"reader", "POST", response + "/x/challenge", 403, "insufficient_scope"},
		{"sk", "GET", "/v1/mle/other", 404, "route_not_found"},
		{"sk", "GET", "/v1/mle//keys/current", 404, "route_not_found"},
		{"sk", "POST", "/v1/mle/../transactions", 404, "route_not_found"},
		{"sk", "GET", "/v1/mle/%2e%2e/transactions", 404, "route_not_found"},
		{"sk", "GET", "/v1/mle/./keys", 404, "route_not_found"},
	} {
		wantRefusal(t, b.do(t, c.as, c.method, c.path, ""), c.status, c.code, "")
	}
	for _, c := range []struct{ method, path, allow string }{
		{"POST", current, "GET, HEAD, OPTIONS"},
		{"PUT", response, "GET, HEAD, POST"},
		{"GET", rotate, "POST"},
	} {
		r := b.do(t, "sk", c.method, c.path, "")
		wantRefusal(t, r, 405, "method_not_allowed", "")
		if got := r.header.Get("Allow"); got != c.allow {
			t.Errorf("%s %s: got Allow %q, want %q", c.method, c.path, got, c.allow)
		}
	}
	wantRefusal(t, b.do(t, "sk", "GET", current+"?alg=none", ""), 400, "invalid_value", "alg")
	wantRefusal(t, b.do(t, "sk", "GET", current+"?alg=ECDH-ES", ""), 400, "invalid_value", "alg")
	for _, spelt := range []string{"ECDH-ES%2BA256KW", "ECDH-ES+A256KW", "ECDH-ES%20A256KW"} { // an unescaped + is a space
		if got := MustDecode[key](t, b.do(t, "sk", "GET", current+"?alg="+spelt, ""), 200); got.Alg != "ECDH-ES+A256KW" {
			t.Errorf("%s: got %+v", spelt, got)
		}
	}
	wantRefusal(t, b.do(t, "sk", "GET", current+"?algo=x", ""), 400, "unknown_parameter", "algo")
	wantRefusal(t, b.do(t, "sk", "GET", all+"?alg=x", ""), 400, "unknown_parameter", "")
}

// TestSecretKeyInABrowser checks that a secret key with an Origin header is rejected on every route
// and changes nothing. A publishable key reads the current key from a page of any origin.
func TestSecretKeyInABrowser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := MustDecode[key](t, b.do(t, "sk", "GET", current, ""), 200)
	for _, origin := range []string{"https://shop.example", "null", ""} {
		for _, c := range [][2]string{
			{"GET", current},
			{"GET", all},
			{"POST", rotate},
			{"DELETE", all + "/x"},
			{"GET", response},
			{"POST", response},
			{"POST", response + "/x/challenge"},
			{"DELETE", response + "/x"},
		} {
			wantRefusal(t, b.do(t, "sk", c[0], c[1], "", "Origin", origin), 403, "secret_key_in_browser", "")
		}
		MustDecode[key](t, b.do(t, "pk", "GET", current, "", "Origin", origin), 200)
	}
	if got := MustDecode[key](t, b.do(t, "sk", "GET", current, ""), 200).Kid; got != before.Kid {
		t.Errorf("got the key %s, want %s", got, before.Kid)
	}
}

func TestRotate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := MustDecode[key](t, b.do(t, "sk", "GET", current, ""), 200)
	done := b.do(t, "sk", "POST", rotate, `{"kid":"`+first.Kid+`","expires_in":3600}`, "Idempotency-Key", "k")
	k := MustDecode[key](t, done, 200)
	if k.Kid == first.Kid || k.Previous == nil || k.Previous.Kid != first.Kid ||
		k.Previous.ExpiresAt != "2026-11-21T10:30:00.000Z" {
		t.Errorf("got %s", done.body)
	}
	wantContract[v1.MLEKey](t, done)
	again := b.do(t, "sk", "POST", rotate, `{"expires_in":3600, "kid":"`+first.Kid+`"}`, "Idempotency-Key", "k")
	if again.body != done.body || again.header.Get("Idempotent-Replayed") != "true" ||
		done.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("got %+v", again)
	}
	quoted := b.do(t, "sk", "POST", rotate, `{"expires_in":3600, "kid":"`+first.Kid+`"}`, "Idempotency-Key", `"k"`)
	if quoted.body != done.body || quoted.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the key in quotes: got %+v", quoted)
	}
	wantRefusal(t, b.do(t, "sk", "POST", rotate, `{}`, "Idempotency-Key", "k"), 422, "idempotency_key_reused", "")
	wantRefusal(t, b.do(t, "sk", "POST", rotate, `{}`, "Idempotency-Key", "k", "Idempotency-Key", "k"), 400,
		"invalid_idempotency_key", "Idempotency-Key")
	if got := MustDecode[key](t, b.do(t, "sk", "POST", rotate, `{"kid":"`+first.Kid+`"}`), 200); got.Kid != k.Kid ||
		got.Previous != nil {
		t.Errorf("replaced already: got %+v", got)
	}
	if got := MustDecode[key](t, b.do(t, "sk", "POST", rotate, ""), 200); got.Kid == k.Kid || got.Previous.Kid != k.Kid {
		t.Errorf("without a body: got %+v", got)
	}
}

// TestRotateRefusals checks the response to each fault in a body of a rotation.
func TestRotateRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for body, want := range map[string][2]string{
		`{"kid":"x"}`:            {"not_found", "kid"},
		`{"kid":""}`:             {"missing_field", "kid"},
		`{"kid":null}`:           {"invalid_type", "kid"},
		`{"alg":"RSA1_5"}`:       {"invalid_value", "alg"},
		`{"expires_in":-1}`:      {"invalid_value", "expires_in"},
		`{"expires_in":2592001}`: {"invalid_value", "expires_in"},
		`{"expires_in":"1"}`:     {"invalid_type", "expires_in"},
		`{"key":1}`:              {"unknown_field", "key"},
		`{"sk_live_secret":1}`:   {"unknown_field", "[redacted]"},
		`{"kid":"a","kid":"b"}`:  {"duplicate_field", "kid"},
		`[]`:                     {"invalid_json", ""},
		`{`:                      {"invalid_json", ""},
	} {
		status := 400
		if want[0] == "not_found" {
			status = 404
		}
		wantRefusal(t, b.do(t, "sk", "POST", rotate, body), status, want[0], want[1])
	}
	wantRefusal(t, b.do(t, "sk", "POST", rotate, "{}", "Content-Encoding", "gzip"), 415, "unsupported_media_type",
		"Content-Encoding")
	wantRefusal(t, b.do(t, "sk", "POST", rotate, strings.Repeat(" ", 64<<10+1)), 413, "body_too_large", "")
}

// TestAPIVersion checks that each response names the version, and that a request for another
// version is refused.
func TestAPIVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for version, refused := range map[string]bool{"2026-11-01": false, "2026-11-02": true, "x": true} {
		r := b.do(t, "sk", "GET", current, "", "Causeway-Version", version)
		if refused {
			wantRefusal(t, r, 400, "unknown_version", "Causeway-Version")
		} else {
			MustDecode[key](t, r, 200)
		}
		if got := r.header.Values("Causeway-Version"); len(got) != 1 || got[0] != "2026-11-01" {
			t.Errorf("%s: got a response by %q", version, got)
		}
	}
}

// TestKeyThatIsBeingMade: a request for a key that is not made yet is logged as a warning. A payer
// could otherwise write errors into the log, and no operator can do anything.
func TestKeyThatIsBeingMade(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var log bytes.Buffer
	h := httpx.LogRequests(slog.New(slog.NewTextHandler(&log, nil)), b.clock, b.server.Config.Handler)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, current+"?alg=RSA-OAEP-256", http.NoBody)
	r.Header.Set("Authorization", "Bearer pk")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 503 || !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "outcome=busy") {
		t.Errorf("got %d, logged %s", w.Code, log.String())
	}
}
