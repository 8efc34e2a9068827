package sdk

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// Algs are the algorithms of message-level encryption.
var Algs = []string{mle.ECDHESA256KW, mle.RSAOAEP256}

// WaitForKeys waits until keys of both kinds exist: the first RSA key is generated in the
// background.
func WaitForKeys(tb testing.TB, s *System) {
	tb.Helper()
	programtest.WaitFor(tb, "there is an RSA key", func() bool {
		status, _ := s.do(tb, http.MethodGet, "/v1/mle/keys/current?alg=RSA-OAEP-256", "")
		return status == http.StatusOK
	})
}

// RunMLE runs the program on mle-filter's page for node or python unchanged, with one of Algs.
func RunMLE(t *testing.T, s *System, language, alg string) {
	t.Helper()
	page := string(mustRead(t, filepath.Join(programtest.MustRoot(t), "mle-filter", "docs", "clients.md")))
	block := map[string]string{"node": "js", "python": "python"}[language]
	found := regexp.MustCompile("(?ms)^```"+block+"\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	if len(found) != 1 {
		t.Fatalf("programs in %s on the page: got %d, want 1", language, len(found))
	}
	installMLE(t, s, language, alg, found[0][1])
}

// RunRegistered runs the program for node or python that registers a response key, with one of
// Algs. Responses to the merchant's secret keys are encrypted to it from then on.
func RunRegistered(t *testing.T, s *System, language, alg string) {
	t.Helper()
	file := map[string]string{"node": "mle/node/registered.mjs", "python": "mle/python/registered.py"}[language]
	installMLE(t, s, language, alg, string(mustRead(t, absolute(t, file))))
}

// RunLegacy runs the program that makes a payment in each legacy dialect with encrypted requests
// and responses, with one of Algs. It checks the media types of the responses, and that v1 has both
// payments.
func RunLegacy(t *testing.T, s *System, alg string) {
	t.Helper()
	program := strings.NewReplacer("https://pay.example.com", s.HTTPS, "your-api-key", s.Key, mle.ECDHESA256KW, alg).
		Replace(string(mustRead(t, absolute(t, "mle/python/legacy.py"))))
	path := filepath.Join(t.TempDir(), "legacy.py")
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	before := len(s.Transactions(t))
	packages := programtest.MustInstallPython(t, "python-mle", absolute(t, "mle/python"))
	c := programtest.Command{
		Path: "python3", Args: []string{path}, Env: []string{"PYTHONPATH=" + packages, "SSL_CERT_FILE=" + s.CA},
	}
	stdout, stderr, err := programtest.Output(t.Context(), c)
	want := regexp.MustCompile(`^(?:application|text)/xml 1 \d+\napplication/hal\+json AUTHORIZED \d+\n$`)
	if err != nil || !want.MatchString(stdout) {
		t.Fatalf("got %q, %v, want both payments\n%s\n%s", stdout, err, stderr, s.Log)
	}
	made := s.Transactions(t)[:2]
	if after := len(s.Transactions(t)); after != before+2 {
		t.Errorf("got %d payments, want 2", after-before)
	}
	for i, amount := range []int64{700, 1250} {
		if made[i].Amount != amount || made[i].Status != v1.TransactionStatusCaptured {
			t.Errorf("got %d %s, want %d captured", made[i].Amount, made[i].Status, amount)
		}
	}
}

// installMLE installs the JOSE library of a program and runs it, for a running system and an
// algorithm.
func installMLE(t *testing.T, s *System, language, alg, program string) {
	t.Helper()
	dir := t.TempDir()
	text := strings.NewReplacer("https://pay.example.com", s.HTTPS, "your-api-key", s.Key, mle.ECDHESA256KW, alg).
		Replace(program)
	if language == "python" {
		python := programtest.MustInstallPython(t, "python-mle", absolute(t, "mle/python"))
		runMLE(t, s, dir, text, "sale.py", "python3", "PYTHONPATH="+python, "SSL_CERT_FILE="+s.CA)
		return
	}
	if err := os.Symlink(programtest.MustInstallNode(t, "node-mle", absolute(t, "mle/node")),
		filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	runMLE(t, s, dir, text, "sale.mjs", "node", "NODE_EXTRA_CA_CERTS="+s.CA)
}

// runMLE checks that the program prints a payment, and that v1 has it.
func runMLE(t *testing.T, s *System, dir, program, file, command string, env ...string) {
	t.Helper()
	path := filepath.Join(dir, file)
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	c := programtest.Command{Path: command, Args: []string{path}, Dir: dir, Env: env}
	stdout, stderr, err := programtest.Output(t.Context(), c)
	status, number, _ := strings.Cut(strings.TrimSpace(stdout), " ")
	if err != nil || status != "captured" {
		t.Fatalf("got %q, %v, want a captured payment\n%s\n%s", stdout, err, stderr, s.Log)
	}
	var got v1.Transaction
	_, body := s.send(t, http.MethodGet, "/v1/transactions/"+number)
	if json.Unmarshal([]byte(body), &got) != nil || got.Status != v1.TransactionStatusCaptured {
		t.Errorf("v1 has %s as %s, want it captured", number, body)
	}
}

// RegisterKey makes a key pair for responses and registers it.
func RegisterKey(t *testing.T, s *System) *jose.JSONWebKey {
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
	status, body := s.do(t, http.MethodPost, "/v1/mle/response_keys", `{"jwk":`+string(jwk)+`}`)
	if err := json.Unmarshal([]byte(body), &made); err != nil {
		t.Fatalf("register: %d %s, %v", status, body, err)
	}
	algs, encs := []jose.KeyAlgorithm{jose.ECDH_ES_A256KW}, []jose.ContentEncryption{jose.A256GCM}
	object, err := jose.ParseEncryptedCompact(made.Challenge.JWE, algs, encs)
	if err != nil {
		t.Fatal(err)
	}
	text, err := object.Decrypt(private)
	if err != nil {
		t.Fatal(err)
	}
	status, body = s.do(t, http.MethodPost, "/v1/mle/response_keys/"+key.KeyID+"/challenge",
		`{"answer":"`+string(text)+`"}`)
	if status != http.StatusOK {
		t.Fatalf("prove: got %d %s", status, body)
	}
	return key
}
