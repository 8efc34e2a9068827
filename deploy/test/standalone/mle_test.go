package standalone_test

import (
	"errors"
	"fmt"
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

const encryptedSale = `{"amount":1250,"currency":"usd","payment_method":"card","card":{"number":"4111111111111111",` +
	`"exp_month":4,"exp_year":2031}}`

// TestClients_mle runs the programs of mle-filter's README unchanged, with either algorithm, over
// HTTPS. They register no response key. Then it runs the programs that register one.
func TestClients_mle(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	s := system(t, p)
	sdk.WaitForKeys(t, s)
	for i, run := range []func(*testing.T, *sdk.System, string, string){sdk.RunMLE, sdk.RunRegistered} {
		for _, alg := range sdk.Algs {
			for _, language := range []string{"node", "python"} {
				// Not parallel: a registered key replaces the derived ones, and the newest one is the default.
				name := language + " " + alg + []string{"", " registered"}[i]
				t.Run(name, func(t *testing.T) { //nolint:paralleltest // see above
					run(t, s, language, alg)
				})
			}
		}
	}
}

// TestDerivedResponses demands encrypted responses without a registered key. A replay is encrypted
// anew: another request has another key. A merchant that then registers a key gets its replay to
// that key, and only publishable keys still get derived ones.
func TestDerivedResponses(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	sdk.WaitForKeys(t, system(t, p))
	with := func(key string, cfg mle.Config) (*merchant, *tokens) {
		seen := &tokens{}
		cfg.Next = seen
		return &merchant{base: p.HTTP, key: key, http: &http.Client{Transport: mle.New(cfg), Timeout: patience}}, seen
	}
	made := map[string]response{}
	for _, alg := range sdk.Algs {
		client, seen := with(p.Keys.SKTest, mle.Config{Alg: alg, EncryptedResponses: true})
		made[alg] = client.must(t, http.MethodPost, "/v1/transactions", alg, encryptedSale)
		if made[alg].status != http.StatusCreated || made[alg].replayed {
			t.Fatalf("%s: got %d %s", alg, made[alg].status, made[alg].body)
		}
		again := client.must(t, http.MethodPost, "/v1/transactions", alg, encryptedSale)
		if again.body != made[alg].body || again.status != made[alg].status || !again.replayed {
			t.Errorf("%s: got %d %s, want the same response again", alg, again.status, again.body)
		}
		if len(seen.responses) != 2 || seen.responses[0] == seen.responses[1] {
			t.Errorf("%s: got %q, want two encrypted responses", alg, seen.responses)
		}
		wantReused(t, alg, m, alg, encryptedSale)
		declined := client.must(t, http.MethodPost, "/v1/transactions", "", strings.Replace(encryptedSale, "1250", "-1", 1))
		if declined.status != http.StatusBadRequest || len(seen.responses) != 3 {
			t.Errorf("%s: got %d %s, want an encrypted error", alg, declined.status, declined.body)
		}
	}
	private := sdk.RegisterKey(t, system(t, p))
	for _, alg := range sdk.Algs {
		registered, _ := with(p.Keys.SKTest, mle.Config{Alg: alg, Private: private})
		got := registered.must(t, http.MethodPost, "/v1/transactions", alg, encryptedSale)
		if got.body != made[alg].body || !got.replayed {
			t.Errorf("%s, registered: got %d %s, want the same response", alg, got.status, got.body)
		}
		page, seen := with(p.Keys.PKTest, mle.Config{Alg: alg, EncryptedResponses: true})
		token := page.must(t, http.MethodPost, "/v1/tokens", "",
			`{"card":{"number":"4111111111111111","exp_month":4,"exp_year":2031}}`)
		if token.status != http.StatusCreated || !strings.Contains(token.body, `"last4":"1111"`) ||
			len(seen.responses) != 1 {
			t.Errorf("%s, publishable: got %d %s", alg, token.status, token.body)
		}
	}
	if got, want := len(m.transactions(t)), len(sdk.Algs); got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
}

// tokens records the encrypted responses of a client.
type tokens struct{ responses []string }

func (s *tokens) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || response.Header.Get("Content-Type") != "application/jose" {
		return response, err
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	s.responses = append(s.responses, string(text))
	response.Body = io.NopCloser(strings.NewReader(string(text)))
	return response, nil
}

// TestEncryptedIsTheSame checks that an Idempotency-Key is the same for requests with and without
// encryption, in any order, and with either algorithm. If the client required an encrypted
// response, its replay is encrypted too.
func TestEncryptedIsTheSame(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	sdk.WaitForKeys(t, system(t, p))
	private := sdk.RegisterKey(t, system(t, p))
	encrypted := func(alg string, private *jose.JSONWebKey) *merchant {
		return &merchant{
			base: p.HTTP,
			key:  p.Keys.SKTest,
			http: &http.Client{Transport: mle.New(mle.Config{Alg: alg, Private: private}), Timeout: patience},
		}
	}
	first := m.must(t, http.MethodPost, "/v1/transactions", "clear first", encryptedSale)
	for _, alg := range sdk.Algs {
		both, request := encrypted(alg, private), encrypted(alg, nil)
		made := both.must(t, http.MethodPost, "/v1/transactions", alg, encryptedSale)
		if made.status != http.StatusCreated || made.replayed {
			t.Fatalf("%s: got %d %s", alg, made.status, made.body)
		}
		if got := both.must(t, http.MethodPost, "/v1/transactions", alg, encryptedSale); got.body != made.body ||
			got.status != made.status || !got.replayed {
			t.Errorf("%s: got %d %s, want the same response again", alg, got.status, got.body)
		}
		for name, client := range map[string]*merchant{"plain response": request, "in the clear": m} {
			wantReused(t, alg+", "+name, client, alg, encryptedSale)
		}
		for name, client := range map[string]*merchant{"both encrypted": both, "the request": request, "in the clear": m} {
			if got := client.must(t, http.MethodPost, "/v1/transactions",
				"clear first", encryptedSale); got.body != first.body || !got.replayed {
				t.Errorf("%s, %s: what was made in the clear: got %d %s, want the same response", alg, name, got.status, got.body)
			}
			wantReused(t, alg+", another body, "+name, client, alg, strings.Replace(encryptedSale, "1250", "1251", 1))
		}
	}
	if got, want := len(m.transactions(t)), 1+len(sdk.Algs); got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
}

// TestNoEncryptionWithoutAnAPIKey checks that a legacy request that demands encryption with another
// login is refused before the proxy gets it. Without those fields it succeeds.
func TestNoEncryptionWithoutAnAPIKey(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	for _, path := range []string{
		"/xml/v1/request.api", "/compat/methods", "/pts/v2/payments", "/risk/v1/decisions", "/flex/v2/sessions",
		"/compat/rpc",
	} {
		for want, fields := range map[string]http.Header{
			"400 mle_not_supported Authorization":     {"X-Svc-Mle-Response": {"required"}},
			"400 mle_not_supported Authorization ":    {"Content-Type": {"application/jose"}, "X-Svc-Mle": {"v1"}},
			"415 unsupported_media_type X-SVC-MLE":    {"Content-Type": {"application/jose"}},
			"415 unsupported_media_type Content-Type": {"X-Svc-Mle": {"v1"}},
			"400 invalid_value X-SVC-MLE-Response":    {"X-Svc-Mle-Response": {"optional"}},
			"":                                        {"Content-Type": {"application/json"}},
		} {
			got := sendLegacy(t, p, path, "{}", fields)
			var problem v1.ErrorBody
			param := ""
			if err := json.Unmarshal([]byte(got.body), &problem); err == nil && problem.Error.Param != nil {
				param = *problem.Error.Param
			}
			text := fmt.Sprintf("%d %s %s", problem.Error.Status, problem.Error.Code, param)
			if want = strings.TrimSpace(want); want != "" && (text != want || got.status != problem.Error.Status ||
				got.requestID != problem.Error.RequestID) {
				t.Errorf("%s: got %d %s, want %s", path, got.status, got.body, want)
			}
			if want == "" && strings.Contains(got.body, "mle_") {
				t.Errorf("%s, in the clear: got %d %s", path, got.status, got.body)
			}
		}
	}
}

// wantReused checks that a payment counts as a reuse of its Idempotency-Key with another body.
func wantReused(t *testing.T, name string, client *merchant, key, body string) {
	t.Helper()
	got := client.must(t, http.MethodPost, "/v1/transactions", key, body)
	if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "idempotency_key_reused") {
		t.Errorf("%s: got %d %s, want idempotency_key_reused", name, got.status, got.body)
	}
}

// TestEncryptedToken encrypts a card to its merchant's key, as a web page with a publishable key
// does.
func TestEncryptedToken(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	page := &merchant{
		base: p.HTTP,
		key:  p.Keys.PKTest,
		http: &http.Client{Transport: mle.New(mle.Config{Alg: mle.ECDHESA256KW}), Timeout: patience},
	}
	made := page.must(t, http.MethodPost, "/v1/tokens", "",
		`{"card":{"number":"4111111111111111","exp_month":4,"exp_year":2031}}`)
	if made.status != http.StatusCreated || !strings.Contains(made.body, `"last4":"1111"`) {
		t.Errorf("token: got %d %s", made.status, made.body)
	}
	if got := page.must(t, http.MethodGet, "/v1/api_keys/current", "", ""); got.status != http.StatusForbidden {
		t.Errorf("what the key is: got %d %s, want 403", got.status, got.body)
	}
}

// TestBareHeader checks that a protected header with only alg, enc and kid suffices, as go-jose
// writes it.
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
		encrypter, err := jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: jose.KeyAlgorithm(alg), Key: current.JWK},
			nil)
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
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.HTTP+"/v1/transactions",
			strings.NewReader(token))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{
			"Authorization": {"Bearer " + p.Keys.SKTest},
			"Content-Type":  {"application/jose"},
			"X-Svc-Mle":     {"v1"},
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err != nil || response.Body.Close() != nil || response.StatusCode != http.StatusCreated {
			t.Errorf("%s: got %d %s, %v", alg, response.StatusCode, text, err)
		}
	}
}

// TestMLEKeysFromAWebPage checks that core's refusal of a secret key with an Origin header also
// applies to the paths that mle-filter serves.
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
		if err := json.Unmarshal(text, &body); err != nil || response.StatusCode != 403 ||
			body.Error.Code != "secret_key_in_browser" {
			t.Errorf("%s: got %d %s", path, response.StatusCode, text)
		}
	}
}
