package providerb_test

import (
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/envelope"
	"github.com/causeway-pay/causeway/shared/clock"
)

// desk is a handler whose merchant may encrypt its requests, and get encrypted responses.
type desk struct {
	handler *providerb.Handler
	store   *credentials.Store
	secret  []byte
	to      string // the certificate for encryption
}

// acceptingV1 is a v1 that accepts the merchant's key and every reservation.
func acceptingV1(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		w.WriteHeader(http.StatusCreated)
		return
	}
	_, _ = w.Write([]byte(`{"id":"key_1","object":"api_key","merchant":"mer_1","mode":"test","scopes":["compat:use",` +
		`"payments:authorize"]}`))
}

func mustDesk(t *testing.T, v1 http.HandlerFunc) *desk {
	t.Helper()
	d := &desk{secret: []byte("a shared secret of thirty-two by")}
	pair, err := credentials.NewEncryptionB(goldentest.Today)
	if err != nil {
		t.Fatal(err)
	}
	d.to = pair.Certificate
	path := filepath.Join(t.TempDir(), "credentials.yaml")
	// The responses are encrypted to the same pair, so that the test can decrypt them.
	text := "provider_b:\n  - merchant_id: shop\n    api_key: " + goldentest.APIKey +
		"\n    keys: [{id: key, shared_secret: " + base64.StdEncoding.EncodeToString(d.secret) +
		"}]\n    response_keys: [{kid: responses, certificate: " + strconv.Quote(pair.Certificate) +
		"}]\nprovider_b_encryption:\n  - {key: " +
		strconv.Quote(pair.Key.Reveal()) + ", certificate: " + strconv.Quote(pair.Certificate) +
		", kid: requests}\n  - {key: " +
		strconv.Quote(pair.Key.Reveal()) + ", certificate: " + strconv.Quote(pair.Certificate) + ", kid: responses}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := clock.NewFake(goldentest.Today)
	if d.store, err = credentials.Open(path, c, slog.New(slog.DiscardHandler), nil); err != nil {
		t.Fatal(err)
	}
	d.handler = providerb.New(providerb.Config{
		Verifier: auth.New(auth.Config{Keys: d.store, Clock: c}), DecryptionKeys: d.store,
		Config: dialect.Config{
			Executor: goldentest.MustExecutor(t, v1), Clock: c, Currency: "usd", MaxBytes: 256 << 10,
			NewNumber: func() string { return "1" },
		},
	})
	return d
}

// post sends a payment with a token, and requests a response encrypted under a kid.
func (d *desk) post(t *testing.T, body, kid string) *httptest.ResponseRecorder {
	t.Helper()
	sum := sha256.Sum256([]byte(body))
	claims, err := json.Marshal(map[string]any{
		"digest": base64.StdEncoding.EncodeToString(sum[:]), "exp": goldentest.Today.Unix() + 120, "iss": "shop", "jti": "1",
		"v-c-response-mle-kid": kid,
	})
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: d.secret},
		(&jose.SignerOptions{}).WithHeader("kid", "key"))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return d.send(t, body, "Bearer "+token)
}

func (d *desk) send(t *testing.T, body, authorization string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/pts/v2/payments", strings.NewReader(body))
	r.Header.Set("Authorization", authorization)
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w
}

// wrapped returns a body encrypted to a key of the proxy.
func (d *desk) wrapped(t *testing.T, text, kid string) string {
	t.Helper()
	key, ok := d.store.ProviderBDecryptionKey(t.Context(), "requests")
	if !ok {
		t.Fatal("no key to encrypt to")
	}
	body, err := envelope.Encrypt([]byte(text), kid, &key.PublicKey, goldentest.Today)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(body), "encryptedResponse", "encryptedRequest", 1)
}

const (
	nothing      = `{}`
	notDecrypted = `"reason":"INVALID_DATA","message":"Declined - One or more fields in the request contains invalid ` +
		`data"}`
)

func TestEncryptedRequest(t *testing.T) {
	t.Parallel()
	d := mustDesk(t, acceptingV1)
	good := d.wrapped(t, nothing, "requests")
	// The refusal is of the decrypted content: a field is missing.
	if got := d.post(t, good, ""); got.Code != http.StatusBadRequest ||
		!strings.Contains(got.Body.String(), "MISSING_FIELD") {
		t.Errorf("an encrypted request: %d %s, want that a field is missing inside", got.Code, got.Body)
	}
	for name, got := range map[string]*httptest.ResponseRecorder{
		"unknown kid":         d.post(t, d.wrapped(t, nothing, "unknown"), ""),
		"no JWE":              d.post(t, `{"encryptedRequest":"a.b.c.d.e"}`, ""),
		"without a token":     d.send(t, good, "Bearer "+goldentest.APIKey),
		"not JSON inside":     d.post(t, d.wrapped(t, "nonsense", "requests"), ""),
		"encrypted a 2. time": d.post(t, d.wrapped(t, `"`+good+`"`, "requests"), ""),
	} {
		if got.Code != http.StatusBadRequest || !strings.HasSuffix(got.Body.String(), notDecrypted) {
			t.Errorf("%s: %d %s, want 400 and %s", name, got.Code, got.Body, notDecrypted)
		}
	}
}

func TestEncryptedResponse(t *testing.T) {
	t.Parallel()
	d := mustDesk(t, acceptingV1)
	w := d.post(t, nothing, "responses")
	var body map[string]string
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || len(body) != 1 || w.Code != http.StatusBadRequest {
		t.Fatalf("%v: %d %s, want 400 with one member", err, w.Code, w.Body)
	}
	text, err := envelope.Decrypt(t.Context(), d.store, body["encryptedResponse"])
	if err != nil || !strings.Contains(string(text), "MISSING_FIELD") {
		t.Errorf("inside: %s, %v, want the refusal", text, err)
	}
	if got, want := w.Header().Get("Content-Length"), strconv.Itoa(w.Body.Len()); got != want {
		t.Errorf("length = %s, want %s", got, want)
	}
	for name, plain := range map[string]*httptest.ResponseRecorder{
		"unknown kid": d.post(t, nothing, "unknown"), "no kid": d.post(t, nothing, ""),
		"no login": d.send(t, nothing, "Bearer a.b.c"),
	} {
		if strings.Contains(plain.Body.String(), "encryptedResponse") {
			t.Errorf("%s: %s, want it plain", name, plain.Body)
		}
	}
}

// A revoked key gets a plain response, like any unauthenticated request.
func TestResponseToARevokedKeyIsPlain(t *testing.T) {
	t.Parallel()
	d := mustDesk(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"type":"authentication_error","code":"invalid_api_key","message":"m","status":401,` +
			`"request_id":"req_1"}}`))
	})
	w := d.post(t, nothing, "responses")
	if got, want := w.Body.String(), `{"response":{"rmsg":"Authentication Failed"}}`; w.Code != http.StatusUnauthorized ||
		got != want {
		t.Errorf("got %d %s, want 401 %s", w.Code, got, want)
	}
}
