package mle_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"

	v1 "github.com/causeway-pay/causeway/shared/v1"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

const sale = `{"amount":1}`

// service is a service that returns its key, and responds to payments by response.
type service struct {
	response func(w http.ResponseWriter, sent string)

	mu      sync.Mutex
	key     jose.JSONWebKey // guarded by mu
	fetched int             // guarded by mu
	sent    []string        // guarded by mu
	fields  http.Header     // of the last payment; guarded by mu
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	if r.URL.Path == "/v1/mle/keys/current" {
		defer s.mu.Unlock()
		public := s.key.Public()
		text, err := public.MarshalJSON()
		if s.fetched++; err == nil && r.Header.Get("Authorization") == "Bearer sk" &&
			r.URL.Query().Get("alg") == public.Algorithm {
			_, _ = io.WriteString(w, `{"jwk":`+string(text)+`}`)
		}
		return
	}
	s.sent, s.fields = append(s.sent, string(body)), r.Header.Clone()
	s.mu.Unlock()
	s.response(w, string(body))
}

func (s *service) setKey(key jose.JSONWebKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

func newKey(t *testing.T) jose.JSONWebKey {
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
	return key
}

func seal(t *testing.T, key jose.JSONWebKey, text string) string {
	t.Helper()
	e, err := jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: jose.ECDH_ES_A256KW, Key: key.Public()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	object, err := e.Encrypt([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func opened(t *testing.T, key jose.JSONWebKey, token string) (jose.Header, string) {
	t.Helper()
	object, err := jose.ParseEncryptedCompact(token, []jose.KeyAlgorithm{jose.ECDH_ES_A256KW},
		[]jose.ContentEncryption{jose.A256GCM})
	if err != nil {
		t.Fatal(err)
	}
	text, err := object.Decrypt(key.Key)
	if err != nil {
		t.Fatal(err)
	}
	return object.Header, string(text)
}

func open(t *testing.T) (*service, string) {
	t.Helper()
	s := &service{key: newKey(t)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

// pay sends a payment, and returns the status and the response's body.
func pay(t *testing.T, base string, cfg mle.Config) (status int, text string, err error) {
	t.Helper()
	return payBy(t, base, mle.New(cfg))
}

func payBy(t *testing.T, base string, transport http.RoundTripper) (status int, text string, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/transactions?a=b",
		strings.NewReader(sale))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer sk")
	response, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return 0, "", err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || response.Body.Close() != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body), nil
}

func jwe(w http.ResponseWriter, token string) {
	w.Header().Set("Content-Type", "application/jose")
	_, _ = io.WriteString(w, token)
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	s, base := open(t)
	own := newKey(t)
	s.response = func(w http.ResponseWriter, _ string) { jwe(w, seal(t, own, `{"id":"x"}`)) }
	if status, text, err := pay(t, base, mle.Config{Private: &own, Pins: []string{s.key.KeyID}}); err != nil ||
		status != 200 || text != `{"id":"x"}` {
		t.Errorf("got %d %s, %v", status, text, err)
	}
	header, text := opened(t, s.key, s.sent[0])
	if text != sale || header.KeyID != s.key.KeyID || header.ExtraHeaders["htm"] != "POST" ||
		header.ExtraHeaders["htu"] != "/v1/transactions" {
		t.Errorf("the service got %s under %+v", text, header)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/jose", "X-Svc-Mle": "v1", "X-Svc-Mle-Response": "required",
		"X-Svc-Mle-Response-Kid": own.KeyID,
	} {
		if got := s.fields.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	client, err := v1.NewClient(base, mle.Option(mle.Config{}))
	if err != nil || client.Client == nil {
		t.Errorf("got %v, %v, want a client that encrypts", client, err)
	}
}

// TestRefuses sends responses that a client must not accept as encrypted if it demanded encryption.
func TestRefuses(t *testing.T) {
	t.Parallel()
	own := newKey(t)
	for name, tt := range map[string]struct {
		response func(t *testing.T, w http.ResponseWriter, sent string)
		status   int // of an accepted response; 0 if it must be rejected
	}{
		"in the clear": {
			func(_ *testing.T, w http.ResponseWriter, _ string) { _, _ = io.WriteString(w, `{"id":"x"}`) },
			0,
		},
		"nothing":         {func(*testing.T, http.ResponseWriter, string) {}, 0},
		"our own request": {func(_ *testing.T, w http.ResponseWriter, sent string) { jwe(w, sent) }, 0},
		"to another key": {func(t *testing.T, w http.ResponseWriter, _ string) {
			t.Helper()
			jwe(w, seal(t, newKey(t), "{}"))
		}, 0},
		"broken": {func(t *testing.T, w http.ResponseWriter, _ string) {
			t.Helper()
			jwe(w, seal(t, own, "{}")+"A")
		}, 0},
		"nonsense": {func(_ *testing.T, w http.ResponseWriter, _ string) { jwe(w, "nonsense") }, 0},
		"a decline in the clear": {clear(402,
			`{"error":{"type":"card_error","code":"card_declined","message":"m","status":402,"request_id":"r",`+
				`"transaction":{"id":"x"}}}`), 0},
		"an error in the clear": {clear(503,
			`{"error":{"type":"api_error","code":"mle_unavailable","message":"m","status":503,"request_id":"r"}}`), 503},
		"an error without JSON": {clear(500, `oops`), 0},
		"a success with an error": {clear(200,
			`{"error":{"type":"api_error","code":"c","message":"m","status":503,"request_id":"r"}}`), 0},
		"no content": {func(_ *testing.T, w http.ResponseWriter, _ string) { w.WriteHeader(204) }, 204},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, base := open(t)
			s.response = func(w http.ResponseWriter, sent string) { tt.response(t, w, sent) }
			status, text, err := pay(t, base, mle.Config{Private: &own})
			if tt.status == 0 && !errors.Is(err, mle.ErrResponse) || tt.status != 0 && (err != nil || status != tt.status) {
				t.Errorf("got %d %s, %v", status, text, err)
			}
			if len(s.sent) != 1 {
				t.Errorf("the payment was sent %d times, want once", len(s.sent))
			}
		})
	}
}

func clear(status int, body string) func(*testing.T, http.ResponseWriter, string) {
	return func(_ *testing.T, w http.ResponseWriter, _ string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const unknown = `{"error":{"type":"mle_error","code":"mle_kid_unknown","message":"m","status":400,"request_id":"r"%s}}`

// TestKeyRotation: the client fetches a key again, once, after the service has discarded it.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	s, base := open(t)
	transport := mle.New(mle.Config{})
	s.response = func(w http.ResponseWriter, _ string) { _, _ = io.WriteString(w, "{}") }
	for range 3 {
		if _, _, err := payBy(t, base, transport); err != nil {
			t.Fatal(err)
		}
	}
	if s.fetched != 1 {
		t.Errorf("the key was fetched %d times for three payments, want once", s.fetched)
	}
	next := newKey(t)
	s.setKey(next)
	refusing := clear(400, strings.Replace(unknown, "%s", "", 1))
	s.response = func(w http.ResponseWriter, sent string) {
		object, err := jose.ParseEncryptedCompact(sent, []jose.KeyAlgorithm{jose.ECDH_ES_A256KW},
			[]jose.ContentEncryption{jose.A256GCM})
		if err != nil || object.Header.KeyID != next.KeyID {
			refusing(t, w, sent)
		}
	}
	if status, text, err := payBy(t, base, transport); err != nil || status != 200 || s.fetched != 2 {
		t.Errorf("got %d %s, %v, fetched %d times", status, text, err, s.fetched)
	}
	s.response = func(w http.ResponseWriter, sent string) { refusing(t, w, sent) }
	if status, text, err := payBy(t, base, transport); err != nil || status != 400 ||
		!strings.Contains(text, "mle_kid_unknown") || len(s.sent) != 7 {
		t.Errorf("refused again: got %d %s, %v after %d payments, want the refusal after one more try", status, text, err,
			len(s.sent))
	}
	about := clear(400, strings.Replace(unknown, "%s", `,"param":"X-SVC-MLE-Response-Kid"`, 1))
	s.response = func(w http.ResponseWriter, sent string) { about(t, w, sent) }
	if status, _, err := payBy(t, base, transport); err != nil || status != 400 || len(s.sent) != 8 {
		t.Errorf("an unknown response key: got %d, %v after %d payments, want no other try", status, err, len(s.sent))
	}
}

// TestForeignKey: nothing is encrypted to a key that differs from its id, or is not pinned.
func TestForeignKey(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *service, cfg *mle.Config){
		"not pinned":    func(_ *service, cfg *mle.Config) { cfg.Pins = []string{"another"} },
		"not its kid":   func(s *service, _ *mle.Config) { s.key.KeyID = "another" },
		"another alg":   func(s *service, _ *mle.Config) { s.key.Algorithm = "ECDH-ES" },
		"not the alg":   func(_ *service, cfg *mle.Config) { cfg.Alg = mle.RSAOAEP256 },
		"no key at all": func(s *service, _ *mle.Config) { s.key = jose.JSONWebKey{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, base := open(t)
			var cfg mle.Config
			change(s, &cfg)
			if status, _, err := pay(t, base, cfg); !errors.Is(err, mle.ErrKey) || len(s.sent) != 0 {
				t.Errorf("got %d, %v after %d payments, want none", status, err, len(s.sent))
			}
		})
	}
}
