package httphop_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// quiet is a log without a reader.
var quiet = slog.New(slog.DiscardHandler)

const (
	bearer = "Bearer sk_test_1"
	pan    = "4111111111111111"
	sale   = `{"amount":1250,"currency":"usd","payment_method":"card","card":{"number":"` + pan + `"}}`
	proof  = "proof-proof-proof"
)

// core plays core, to which the hop forwards. It keeps the requests that it got.
type core struct {
	before   http.Handler // instead of all else
	response func(w http.ResponseWriter, r *http.Request)

	mu   sync.Mutex
	seen []seen // guarded by mu
}

type seen struct {
	method, target, body string
	header               http.Header
	length               int64
}

func (c *core) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.before != nil {
		c.before.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		c.mu.Lock()
		c.seen = append(c.seen, seen{r.Method, r.RequestURI, string(body), r.Header.Clone(), r.ContentLength})
		c.mu.Unlock()
	}
	if c.response != nil {
		c.response(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_0000000000001")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"id":"txn_1"}`)
}

func (c *core) got() []seen {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]seen{}, c.seen...)
}

// testHop is a hop in front of a core, with the keys of both sides.
type testHop struct {
	*httptest.Server
	core *core
	ring *enginetest.Ring
	ours map[engine.Alg]enginetest.Key
	own  enginetest.Key // the merchant's, for responses
	log  *bytes.Buffer
}

// forms are the two transports to core, each with both protocols.
var forms = map[string]form{
	"in process":              {},
	"over HTTP/1.1":           {remote: true},
	"over HTTP/2":             {remote: true, two: true},
	"in process, from HTTP/2": {two: true},
}

type form struct{ remote, two bool }

var rsaKey = sync.OnceValue(func() enginetest.Key { return enginetest.NewKey(&testing.B{}, engine.RSAOAEP256, 2048) })

func open(t *testing.T, f form, change func(*httphop.Config, *engine.Config)) *testHop {
	t.Helper()
	d := &testHop{
		core: &core{}, ring: &enginetest.Ring{}, own: enginetest.NewKey(t, engine.ECDHESA256KW, 0),
		log: &bytes.Buffer{},
	}
	d.ours = map[engine.Alg]enginetest.Key{
		engine.RSAOAEP256:   rsaKey(),
		engine.ECDHESA256KW: enginetest.NewKey(t, engine.ECDHESA256KW, 0),
	}
	for _, k := range d.ours {
		d.ring.Add(enginetest.Merchant, k)
	}
	d.ring.AddResponse(enginetest.Merchant, d.own.Public())
	table, err := policy.New(policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	e := engine.Config{Keys: d.ring, Policy: table, Clock: clock.NewFake(noon), Secret: secret.New(proof)}
	log := slog.New(slog.NewJSONHandler(&locked{w: d.log}, nil))
	cfg := httphop.Config{Identify: identify, Log: log, Around: around(log)}
	if f.remote {
		cfg.Upstream, cfg.Transport = remote(t, d.core, f.two)
	} else {
		cfg.Core = d.core
	}
	if change != nil {
		change(&cfg, &e)
	}
	if cfg.Engine, err = engine.New(e); err != nil {
		t.Fatal(err)
	}
	hop, err := httphop.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	d.Server = serve(t, hop, f.two)
	return d
}

func around(log *slog.Logger) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		h = httpx.Recover(shell.Broken, log, h)
		return httpx.RequestID(httpx.Trace(nil, httpx.LogRequests(log, clock.System(), h)))
	}
}

func serve(t *testing.T, h http.Handler, two bool) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	if s.EnableHTTP2 = two; two {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func remote(t *testing.T, h http.Handler, two bool) (*url.URL, http.RoundTripper) {
	t.Helper()
	s := serve(t, h, two)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := httphop.NewTransport(nil)
	if two {
		trusting, ok := s.Client().Transport.(*http.Transport)
		if !ok {
			t.Fatal("no transport")
		}
		transport = httphop.NewTransport(trusting.TLSClientConfig)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return u, transport
}

func identify(_ context.Context, h http.Header) (string, *engine.Problem) {
	if h.Get("Authorization") != bearer {
		return "", &engine.Problem{
			Status: 401, Type: v1.ErrorTypeAuthenticationError, Code: "invalid_api_key",
			Message: "No.",
		}
	}
	return enginetest.Merchant, nil
}

type locked struct {
	mu sync.Mutex
	w  io.Writer // guarded by mu
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// got is a response.
type got struct {
	status int
	header http.Header
	body   string
	length int64
	proto  int
}

// send sends a request with these fields; an empty field is omitted.
func (d *testHop) send(t *testing.T, method, target string, body io.Reader, fields map[string]string) got {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, d.URL+target, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", bearer)
	for name, value := range fields {
		if r.Header.Set(name, value); value == "" {
			r.Header.Del(name)
		}
	}
	response, err := d.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return got{response.StatusCode, response.Header, string(text), response.ContentLength, response.ProtoMajor}
}

// encryptedFields returns the header of an encrypted request that demands an encrypted response.
func encryptedFields(more ...string) map[string]string {
	fields := map[string]string{"Content-Type": "application/jose", "X-SVC-MLE": "v1", "X-SVC-MLE-Response": "required"}
	for i := 0; i < len(more); i += 2 {
		fields[more[i]] = more[i+1]
	}
	return fields
}

func (d *testHop) encrypt(t *testing.T, alg engine.Alg) io.Reader {
	t.Helper()
	recipient, err := jwe.NewRecipient(d.ours[alg].Public())
	if err != nil {
		t.Fatal(err)
	}
	token, err := recipient.Encrypt([]byte(sale), "application/json", noon)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(token)
}

// decrypt returns the content of an encrypted response.
func (d *testHop) decrypt(t *testing.T, g got) string {
	t.Helper()
	if mediaType := g.header.Get("Content-Type"); mediaType != "application/jose" || g.header.Get("X-SVC-MLE") != "v1" {
		t.Fatalf("got %d %v %s, want an encrypted response", g.status, g.header, g.body)
	}
	object, err := jose.ParseEncryptedCompact(g.body, []jose.KeyAlgorithm{jose.ECDH_ES_A256KW},
		[]jose.ContentEncryption{jose.A256GCM})
	if err != nil {
		t.Fatal(err)
	}
	if object.Header.KeyID != d.own.KID {
		t.Errorf("kid: got %q, want %q", object.Header.KeyID, d.own.KID)
	}
	text, err := object.Decrypt(d.own.Private)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// untouched requires that core received no request.
func (d *testHop) untouched(t *testing.T) {
	t.Helper()
	if n := len(d.core.got()); n != 0 {
		t.Errorf("core got %d requests, want none", n)
	}
}

func wantCode(t *testing.T, g got, status int, code string) {
	t.Helper()
	if g.status != status || !strings.Contains(g.body, `"code":"`+code+`"`) {
		t.Errorf("got %d %s, want %d %s", g.status, g.body, status, code)
	}
	if mediaType := g.header.Get("Content-Type"); mediaType != "application/json" ||
		g.header.Get("Cache-Control") != "no-store" {
		t.Errorf("got %v, want a response in the clear that is not kept", g.header)
	}
	if strings.Contains(g.body, pan) {
		t.Errorf("the rejection contains the request: %s", g.body)
	}
}
