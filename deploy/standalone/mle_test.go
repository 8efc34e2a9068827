package main_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	v1 "github.com/causeway-pay/causeway/shared/v1"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

const encryptedSale = `{"amount":1250,"currency":"usd","payment_method":"card","card":{"number":"4111111111111111","exp_month":4,"exp_year":2031}}`

// mleAlgs are the ways to encrypt. RSA keys are made ahead, so the first one may have to be waited for.
var mleAlgs = []string{mle.ECDHESA256KW, mle.RSAOAEP256}

func waitForKeys(t *testing.T, m *merchant) {
	t.Helper()
	for m.must(t, http.MethodGet, "/v1/mle/keys/current?alg=RSA-OAEP-256", "", "").status == http.StatusServiceUnavailable {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClients_mle runs the programs of mle-filter's README as they stand there, with either algorithm, over HTTPS.
func TestClients_mle(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../mle-filter/README.md")
	if err != nil {
		t.Fatal(err)
	}
	node, python := installNode(t, "node-mle", "sdktest/mle/node"), installPython(t, "python-mle", "sdktest/mle/python")
	p := start(t, t.TempDir())
	waitForKeys(t, merchantOf(t, p))
	for _, alg := range mleAlgs {
		t.Run("node "+alg, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.Symlink(node, filepath.Join(dir, "node_modules")); err != nil {
				t.Fatal(err)
			}
			runMLE(t, p, dir, program(t, p, string(text), "js", alg), "sale.mjs", "node", "NODE_EXTRA_CA_CERTS="+p.CA)
		})
		t.Run("python "+alg, func(t *testing.T) {
			t.Parallel()
			runMLE(t, p, t.TempDir(), program(t, p, string(text), "python", alg), "sale.py", "python3", "PYTHONPATH="+python, "SSL_CERT_FILE="+p.CA)
		})
	}
}

// program is the program of a language in a document, for a running system and an algorithm.
func program(t *testing.T, p *process, document, language, alg string) string {
	t.Helper()
	found := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(document, -1)
	if len(found) != 1 {
		t.Fatalf("programs in %s: got %d, want 1", language, len(found))
	}
	return strings.NewReplacer("https://pay.example.com", p.HTTPS, "your-api-key", p.Keys.SKTest, mle.ECDHESA256KW, alg).Replace(found[0][1])
}

// runMLE wants the program to read of a payment that v1 then has.
func runMLE(t *testing.T, p *process, dir, program, file, command string, env ...string) {
	t.Helper()
	path := filepath.Join(dir, file)
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command, path)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	status, number, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || status != "captured" {
		t.Fatalf("got %q, %v, want a captured payment\n%s\n%s", out, err, stderr.String(), p.stderr)
	}
	if got := mustDecode[v1.Transaction](t, merchantOf(t, p).must(t, http.MethodGet, "/v1/transactions/"+number, "", "")); got.Status != v1.TransactionStatusCaptured {
		t.Errorf("v1 has %s as %s, want it captured", number, got.Status)
	}
}

// TestEncryptedIsTheSame: an Idempotency-Key means the same for requests with and without encryption, whichever comes first, and by either
// algorithm. Only an answer that was owed encrypted is told to nobody who does not ask for it so.
func TestEncryptedIsTheSame(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	waitForKeys(t, m)
	private := registerKey(t, m)
	encrypted := func(alg string, private *jose.JSONWebKey) *merchant {
		return &merchant{base: p.HTTP, key: p.Keys.SKTest, http: &http.Client{Transport: mle.New(mle.Config{Alg: alg, Private: private}), Timeout: patience}}
	}
	first := m.must(t, http.MethodPost, "/v1/transactions", "clear first", encryptedSale)
	for _, alg := range mleAlgs {
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
	if got, want := len(m.transactions(t)), 1+len(mleAlgs); got != want {
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

// registerKey makes a pair for answers and registers it.
func registerKey(t *testing.T, m *merchant) *jose.JSONWebKey {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key := &jose.JSONWebKey{Key: private, Algorithm: mle.ECDHESA256KW, Use: "enc"}
	print, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	key.KeyID = base64.RawURLEncoding.EncodeToString(print)
	public := key.Public()
	jwk, err := public.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Challenge struct {
			JWE string `json:"jwe"`
		} `json:"challenge"`
	}
	answer := m.must(t, http.MethodPost, "/v1/mle/response_keys", "", `{"jwk":`+string(jwk)+`}`)
	if err := json.Unmarshal([]byte(answer.body), &made); err != nil {
		t.Fatalf("register: %d %s, %v", answer.status, answer.body, err)
	}
	object, err := jose.ParseEncryptedCompact(made.Challenge.JWE, []jose.KeyAlgorithm{jose.ECDH_ES_A256KW}, []jose.ContentEncryption{jose.A256GCM})
	if err != nil {
		t.Fatal(err)
	}
	text, err := object.Decrypt(private)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.must(t, http.MethodPost, "/v1/mle/response_keys/"+key.KeyID+"/challenge", "", `{"answer":"`+string(text)+`"}`); got.status != http.StatusOK {
		t.Fatalf("prove: got %d %s", got.status, got.body)
	}
	return key
}

// TestBareHeader: a protected header of alg, enc and kid alone is enough, as go-jose writes it.
func TestBareHeader(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	waitForKeys(t, m)
	for _, alg := range mleAlgs {
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
