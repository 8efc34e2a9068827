package mlefilter_test

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/mle-filter/internal/requirement"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

var birth = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

const (
	apiKey   = "sk_test_1"
	proof    = "proof-proof-proof"
	pan      = "4111111111111111"
	sale     = `{"amount":1250,"currency":"usd","payment_method":"card","card":{"number":"` + pan + `"}}`
	response = `{"id":"txn_0000000000001","object":"transaction"}`
)

// core stands in for v1. It rejects requests without the filter's proof.
type core struct {
	arrived, hold chan struct{} // if not nil, payments signal their arrival and wait

	mu     sync.Mutex
	bodies []string // of payments; guarded by mu
	ill    bool     // guarded by mu
	// required is the list of requirements; "" for none. Set it before the start.
	required string
}

func (c *core) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil:
		return
	case r.Header.Get("X-Svc-Int-Proof") != proof:
		w.WriteHeader(http.StatusForbidden)
	case r.URL.Path == "/v1/health" && c.ill:
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Path == "/v1/health":
	case r.URL.Path == requirement.Path:
		_, _ = io.WriteString(w, cmp.Or(c.required, `{"object":"list","data":[],"has_more":false}`))
	case r.Header.Get("Authorization") != "Bearer "+apiKey:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"type":"authentication_error","code":"invalid_api_key","message":"No.",`+
			`"status":401,"request_id":"req_x"}}`)
	case r.URL.Path == "/v1/api_keys/current":
		_, _ = io.WriteString(w, `{"id":"key_01jd8m3k2q4r5","object":"api_key","merchant":"mer_01jd8m3k2q4r5","mode":"test",`+
			`"kind":"secret","scopes":["mle:write"],
			"hint":"abcd","status":"active","created_at":"2026-11-21T09:30:00.000Z"}`)
	default:
		if c.hold != nil {
			c.mu.Unlock()
			c.arrived <- struct{}{}
			<-c.hold
			c.mu.Lock()
		}
		c.bodies = append(c.bodies, string(body))
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, response)
	}
}

func (c *core) got() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.bodies...)
}

// filter is a filter in front of a core.
type filter struct {
	*httptest.Server
	*mlefilter.Filter
	core  *core
	clock *clock.Fake
	log   *programtest.Log
}

func open(t *testing.T, change func(*mlefilter.Config)) *filter {
	t.Helper()
	f := &filter{core: &core{}, clock: clock.NewFake(birth), log: &programtest.Log{}}
	back := httptest.NewServer(f.core)
	t.Cleanup(back.Close)
	cfg := mlefilter.Config{
		V1: back.URL, Secret: secret.New(proof), Keys: filepath.Join(t.TempDir(), "mle.db"),
		KEK:     secret.New(base64.StdEncoding.EncodeToString(make([]byte, 32))),
		RSABits: 2048, Spares: 1, Clock: f.clock, Log: slog.New(slog.NewJSONHandler(f.log, nil)),
	}
	if change != nil {
		change(&cfg)
	}
	opened, err := mlefilter.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	f.Filter, f.Server = opened, httptest.NewServer(opened.Handler())
	t.Cleanup(f.Server.Close)
	return f
}

// inProcess makes the filter call a core in the same process.
func inProcess(c *mlefilter.Config) { c.V1, c.Core = "", &core{} }

type got struct {
	status int
	header http.Header
	body   string
}

// send sends a request with additional header fields: names and values alternate. An empty value
// removes the field.
func (f *filter) send(t *testing.T, client *http.Client, method, path, body string, more ...string) got {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, f.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+apiKey)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(more); i += 2 {
		if r.Header.Set(more[i], more[i+1]); more[i+1] == "" {
			r.Header.Del(more[i])
		}
	}
	a, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(a.Body)
	if err != nil || a.Body.Close() != nil {
		t.Fatal(err)
	}
	return got{a.StatusCode, a.Header, string(text)}
}

// register makes and registers a response key.
func (f *filter) register(t *testing.T) *jose.JSONWebKey {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key := jose.JSONWebKey{Key: private, Algorithm: mle.ECDHESA256KW, Use: "enc"}
	print, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	key.KeyID = base64.RawURLEncoding.EncodeToString(print)
	public, err := key.Public().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	made := f.send(t, f.Client(), "POST", "/v1/mle/response_keys", `{"jwk":`+string(public)+`}`)
	var created struct {
		Challenge struct {
			JWE string `json:"jwe"`
		} `json:"challenge"`
	}
	if err := json.Unmarshal([]byte(made.body), &created); err != nil || made.status != 201 {
		t.Fatalf("register: got %d %s, %v", made.status, made.body, err)
	}
	object, err := jose.ParseEncryptedCompact(
		created.Challenge.JWE, []jose.KeyAlgorithm{jose.ECDH_ES_A256KW}, []jose.ContentEncryption{jose.A256GCM},
	)
	if err != nil {
		t.Fatal(err)
	}
	text, err := object.Decrypt(private)
	if err != nil {
		t.Fatal(err)
	}
	proven := f.send(
		t, f.Client(), "POST", "/v1/mle/response_keys/"+key.KeyID+"/challenge", `{"answer":"`+string(text)+`"}`,
	)
	if proven.status != 200 {
		t.Fatalf("prove: got %d %s", proven.status, proven.body)
	}
	return &key
}

// client returns an HTTP client that encrypts.
func (f *filter) client(t *testing.T, alg string, private *jose.JSONWebKey) *http.Client {
	t.Helper()
	return &http.Client{
		Transport: mle.New(mle.Config{Alg: alg, Private: private, Clock: f.clock, Next: f.Client().Transport}),
	}
}
