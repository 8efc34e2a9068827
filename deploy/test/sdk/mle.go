package sdk

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// mlePatience is how long a program may take, on a machine that is busy with all the other tests.
const mlePatience = 2 * time.Minute

// Algs are the ways to encrypt.
var Algs = []string{mle.ECDHESA256KW, mle.RSAOAEP256}

// WaitForKeys waits until there are keys of both kinds: RSA keys are made ahead, so the first one may have to be waited for.
func WaitForKeys(t *testing.T, s *System) {
	t.Helper()
	for {
		status, _ := s.do(t, http.MethodGet, "/v1/mle/keys/current?alg=RSA-OAEP-256", "")
		if status != http.StatusServiceUnavailable {
			return
		}
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// RunMLE runs the program of mle-filter's README for node or python as it stands there, by one of Algs.
func RunMLE(t *testing.T, s *System, language, alg string) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(programtest.MustRoot(t), "mle-filter", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if language == "python" {
		python := InstallPython(t, "python-mle", absolute(t, "mle/python"))
		runMLE(t, s, dir, program(t, s, string(readme), "python", alg), "sale.py", "python3", "PYTHONPATH="+python, "SSL_CERT_FILE="+s.CA)
		return
	}
	if err := os.Symlink(InstallNode(t, "node-mle", absolute(t, "mle/node")), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	runMLE(t, s, dir, program(t, s, string(readme), "js", alg), "sale.mjs", "node", "NODE_EXTRA_CA_CERTS="+s.CA)
}

// runMLE wants the program to read of a payment that v1 then has.
func runMLE(t *testing.T, s *System, dir, program, file, command string, env ...string) {
	t.Helper()
	path := filepath.Join(dir, file)
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), mlePatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command, path) //nolint:gosec // the program is ours to choose
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	status, number, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || status != "captured" {
		t.Fatalf("got %q, %v, want a captured payment\n%s\n%s", out, err, stderr.String(), s.Log)
	}
	var got v1.Transaction
	if _, body := s.ask(t, http.MethodGet, "/v1/transactions/"+number); json.Unmarshal([]byte(body), &got) != nil || got.Status != v1.TransactionStatusCaptured {
		t.Errorf("v1 has %s as %s, want it captured", number, body)
	}
}

// program is the program of a language in a document, for a running system and an algorithm.
func program(t *testing.T, s *System, document, language, alg string) string {
	t.Helper()
	found := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(document, -1)
	if len(found) != 1 {
		t.Fatalf("programs in %s: got %d, want 1", language, len(found))
	}
	return strings.NewReplacer("https://pay.example.com", s.HTTPS, "your-api-key", s.Key, mle.ECDHESA256KW, alg).Replace(found[0][1])
}

// RegisterKey makes a pair for answers and registers it.
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
	object, err := jose.ParseEncryptedCompact(made.Challenge.JWE, []jose.KeyAlgorithm{jose.ECDH_ES_A256KW}, []jose.ContentEncryption{jose.A256GCM})
	if err != nil {
		t.Fatal(err)
	}
	text, err := object.Decrypt(private)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := s.do(t, http.MethodPost, "/v1/mle/response_keys/"+key.KeyID+"/challenge", `{"answer":"`+string(text)+`"}`); status != http.StatusOK {
		t.Fatalf("prove: got %d %s", status, body)
	}
	return key
}
