package standalone_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/sdk"
	v1 "github.com/causeway-pay/causeway/shared/v1"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

const encryptedSale = `{"amount":1250,"currency":"usd","payment_method":"card","card":{"number":"4111111111111111","exp_month":4,"exp_year":2031}}`

// TestClients_mle runs the programs of mle-filter's README as they stand there, with either algorithm, over HTTPS.
func TestClients_mle(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	s := system(t, p)
	sdk.WaitForKeys(t, s)
	for _, alg := range sdk.Algs {
		for _, language := range []string{"node", "python"} {
			t.Run(language+" "+alg, func(t *testing.T) { //nolint:paralleltest // an answer is for the merchant's newest key, and each program registers one
				sdk.RunMLE(t, s, language, alg)
			})
		}
	}
}

// TestEncryptedIsTheSame: an Idempotency-Key means the same for requests with and without encryption, whichever comes first, and by either
// algorithm. Only an answer that was owed encrypted is told to nobody who does not ask for it so.
func TestEncryptedIsTheSame(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	sdk.WaitForKeys(t, system(t, p))
	private := sdk.RegisterKey(t, system(t, p))
	encrypted := func(alg string, private *jose.JSONWebKey) *merchant {
		return &merchant{base: p.HTTP, key: p.Keys.SKTest, http: &http.Client{Transport: mle.New(mle.Config{Alg: alg, Private: private}), Timeout: patience}}
	}
	first := m.must(t, http.MethodPost, "/v1/transactions", "clear first", encryptedSale)
	for _, alg := range sdk.Algs {
		both, request := encrypted(alg, private), encrypted(alg, nil)
		made := both.must(t, http.MethodPost, "/v1/transactions", alg, encryptedSale)
		if made.status != http.StatusCreated || made.replayed {
			t.Fatalf("%s: got %d %s", alg, made.status, made.body)
		}
		if got := both.must(t, http.MethodPost, "/v1/transactions", alg, encryptedSale); got.body != made.body || got.status != made.status || !got.replayed {
			t.Errorf("%s: got %d %s, want the same answer again", alg, got.status, got.body)
		}
		for name, client := range map[string]*merchant{"answer in the clear": request, "in the clear": m} {
			wantReused(t, alg+", "+name, client, alg, encryptedSale)
		}
		for name, client := range map[string]*merchant{"both encrypted": both, "the request": request, "in the clear": m} {
			if got := client.must(t, http.MethodPost, "/v1/transactions", "clear first", encryptedSale); got.body != first.body || !got.replayed {
				t.Errorf("%s, %s: what was made in the clear: got %d %s, want the same answer", alg, name, got.status, got.body)
			}
			wantReused(t, alg+", another body, "+name, client, alg, strings.Replace(encryptedSale, "1250", "1251", 1))
		}
	}
	if got, want := len(m.transactions(t)), 1+len(sdk.Algs); got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
}

// TestLegacyDoorsTakeNoEncryption: a request to a legacy path that asks for any is refused before the proxy sees it, and never answered in the
// clear. Without the fields it gets through.
func TestLegacyDoorsTakeNoEncryption(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	for _, path := range []string{"/xml/v1/request.api", "/compat/methods", "/pts/v2/payments", "/compat/rpc"} {
		for name, fields := range map[string]http.Header{
			"the answer":         {"X-Svc-Mle-Response": {"required"}},
			"the request":        {"Content-Type": {"application/jose"}, "X-Svc-Mle": {"v1"}},
			"the type alone":     {"Content-Type": {"application/jose"}},
			"the version alone":  {"X-Svc-Mle": {"v1"}},
			"in words of nobody": {"X-Svc-Mle-Response": {"optional"}},
			"nothing":            {"Content-Type": {"application/json"}},
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.HTTP+path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header = fields
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			if err != nil || answer.Body.Close() != nil {
				t.Fatal(err)
			}
			var body v1.ErrorBody
			refused := answer.StatusCode == http.StatusBadRequest && json.Unmarshal(text, &body) == nil && body.Error.Code == "mle_not_supported"
			if refused != (name != "nothing") || refused && answer.Header.Get("Request-Id") != body.Error.RequestID {
				t.Errorf("%s, %s: got %d %s", path, name, answer.StatusCode, text)
			}
		}
	}
}

// wantReused wants a payment to count as another one than its Idempotency-Key was used with.
func wantReused(t *testing.T, name string, client *merchant, key, body string) {
	t.Helper()
	got := client.must(t, http.MethodPost, "/v1/transactions", key, body)
	if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "idempotency_key_reused") {
		t.Errorf("%s: got %d %s, want idempotency_key_reused", name, got.status, got.body)
	}
}

// TestEncryptedToken: a page encrypts a card to its merchant's key, with the key that it may have.
func TestEncryptedToken(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	page := &merchant{base: p.HTTP, key: p.Keys.PKTest, http: &http.Client{Transport: mle.New(mle.Config{Alg: mle.ECDHESA256KW}), Timeout: patience}}
	made := page.must(t, http.MethodPost, "/v1/tokens", "", `{"card":{"number":"4111111111111111","exp_month":4,"exp_year":2031}}`)
	if made.status != http.StatusCreated || !strings.Contains(made.body, `"last4":"1111"`) {
		t.Errorf("token: got %d %s", made.status, made.body)
	}
	if got := page.must(t, http.MethodGet, "/v1/api_keys/current", "", ""); got.status != http.StatusForbidden {
		t.Errorf("what the key is: got %d %s, want 403", got.status, got.body)
	}
}

// TestBareHeader: a protected header of alg, enc and kid alone is enough, as go-jose writes it.
func TestBareHeader(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	sdk.WaitForKeys(t, system(t, p))
	for _, alg := range sdk.Algs {
		var current struct {
			JWK jose.JSONWebKey `json:"jwk"`
		}
		got := m.must(t, http.MethodGet, "/v1/mle/keys/current?alg="+strings.ReplaceAll(alg, "+", "%2B"), "", "")
		if err := json.Unmarshal([]byte(got.body), &current); err != nil {
			t.Fatalf("%s: %v", got.body, err)
		}
		encrypter, err := jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: jose.KeyAlgorithm(alg), Key: current.JWK}, nil)
		if err != nil {
			t.Fatal(err)
		}
		object, err := encrypter.Encrypt([]byte(encryptedSale))
		if err != nil {
			t.Fatal(err)
		}
		token, err := object.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.HTTP+"/v1/transactions", strings.NewReader(token))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Authorization": {"Bearer " + p.Keys.SKTest}, "Content-Type": {"application/jose"}, "X-Svc-Mle": {"v1"}}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.Body.Close() != nil || answer.StatusCode != http.StatusCreated {
			t.Errorf("%s: got %d %s, %v", alg, answer.StatusCode, text, err)
		}
	}
}

// TestMLEKeysFromAWebPage: core's refusal of a secret key with an Origin header holds for the paths
// that mle-filter serves.
func TestMLEKeysFromAWebPage(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	sdk.WaitForKeys(t, system(t, p))
	for path, method := range map[string]string{
		"/v1/mle/keys/current": http.MethodGet, "/v1/mle/keys": http.MethodGet,
		"/v1/mle/keys/rotate": http.MethodPost, "/v1/mle/response_keys": http.MethodPost,
	} {
		r, err := http.NewRequestWithContext(t.Context(), method, p.HTTP+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Authorization": {"Bearer " + m.key}, "Origin": {"https://shop.example"}}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err != nil || response.Body.Close() != nil {
			t.Fatal(err)
		}
		var body v1.ErrorBody
		if err := json.Unmarshal(text, &body); err != nil || response.StatusCode != 403 || body.Error.Code != "secret_key_in_browser" {
			t.Errorf("%s: got %d %s", path, response.StatusCode, text)
		}
	}
}
