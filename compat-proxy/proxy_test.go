package compatproxy_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
)

const (
	path   = "/compat/provider-a/xml"
	dropIn = "/xml/v1/request.api"
	apiKey = "sk_test_0123456789abcdef"
	pan    = "4111111111111111"
	sale   = `{"createTransactionRequest":{"merchantAuthentication":{"name":"shop","transactionKey":"` + apiKey +
		`"},"refId":"r1",` +
		`"transactionRequest":{"transactionType":"authCaptureTransaction","amount":"24.50","payment":{"creditCard":` +
		`{"cardNumber":"` + pan + `","expirationDate":"2031-04","cardCode":"987"}}}}}`
	bom = "\xef\xbb\xbf"
)

// v1 approves every payment and counts them.
type v1 struct {
	creates atomic.Int64
	hold    chan struct{} // unless nil, a create waits until it is closed
	arrived chan struct{}
}

func (s *v1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/api_keys/current" {
		_, _ = io.WriteString(w, `{"merchant":"mer_1","mode":"test","scopes":["payments:authorize","compat:use"]}`)
		return
	}
	var sent struct {
		Amount    int64          `json:"amount"`
		Reference jsontext.Value `json:"reference"`
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &sent) // an unreadable body gets a response without it
	if sent.Reference == nil {
		sent.Reference = jsontext.Value("null")
	}
	if s.hold != nil {
		s.arrived <- struct{}{}
		<-s.hold
	}
	n := 60410000000 + s.creates.Add(1)
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"id":"`+id.Format(id.Transaction, n)+`","status":"captured","mode":"test",`+
		`"currency":"usd","amount":`+
		strconv.FormatInt(sent.Amount, 10)+`,"amount_authorized":`+
		strconv.FormatInt(sent.Amount, 10)+`,"reference":`+string(sent.Reference)+
		`,"card":{"brand":"visa","last4":"1111"},"authorization":{"code":"AB12CD"}}`)
}

func mustProxy(t *testing.T, s *v1, change func(*compatproxy.Config)) *httptest.Server {
	t.Helper()
	return mustProxyOf(t, s, change)
}

// mustProxyOf returns a proxy in front of any v1.
func mustProxyOf(t *testing.T, s http.Handler, change func(*compatproxy.Config)) *httptest.Server {
	t.Helper()
	upstream := goldentest.Serve(t, s)
	cfg := compatproxy.Config{DeduplicationSecret: goldentest.Secret(), V1: upstream.URL}
	if change != nil {
		change(&cfg)
	}
	p, err := compatproxy.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	server := httptest.NewServer(p.Handler())
	t.Cleanup(server.Close)
	return server
}

// reply is a response that was read to its end.
type reply struct {
	status int
	header http.Header
	length int64 // the Content-Length, -1 without one
}

func send(t *testing.T, method, url string, body io.Reader, change func(*http.Request)) (reply, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, resp.ContentLength}, string(b)
}

func TestSale(t *testing.T) {
	t.Parallel()
	s := &v1{}
	proxy := mustProxy(t, s, func(c *compatproxy.Config) { c.DropInPaths = true })
	for _, p := range []string{path, dropIn, path + "/", dropIn + "/"} {
		resp, body := send(t, http.MethodPost, proxy.URL+p, strings.NewReader(sale),
			func(r *http.Request) { r.Host = "api.example.net" })
		if got, want := resp.status, http.StatusOK; got != want {
			t.Errorf("%s status: got %d, want %d", p, got, want)
		}
		if !strings.HasPrefix(body, bom+`{"transactionResponse":{"responseCode":"1","authCode":"AB12CD"`) {
			t.Errorf("%s body: got %s", p, body)
		}
		if got, want := resp.length, int64(len(body)); got != want {
			t.Errorf("%s Content-Length: got %d, want %d", p, got, want)
		}
		if got, want := resp.header.Get("Content-Type"), "application/json; charset=utf-8"; got != want {
			t.Errorf("%s Content-Type: got %q, want %q", p, got, want)
		}
	}
	if got, want := s.creates.Load(), int64(4); got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
}

func TestDropInPathIsOffByDefault(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, nil)
	resp, _ := send(t, http.MethodPost, proxy.URL+dropIn, strings.NewReader(sale), nil)
	if resp.status != http.StatusNotFound {
		t.Errorf("status: got %d, want %d", resp.status, http.StatusNotFound)
	}
}

func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, nil)
	for _, c := range []struct {
		method, path, allow, code string
		status                    int
	}{
		{http.MethodGet, path, "OPTIONS, POST", "method_not_allowed", http.StatusMethodNotAllowed},
		{http.MethodPost, "/compat/methods", "GET, HEAD", "method_not_allowed", http.StatusMethodNotAllowed},
		{http.MethodPost, "/compat/provider-a/nothing", "", "route_not_found", http.StatusNotFound},
		{http.MethodPost, "/compat/provider-a//xml", "", "route_not_found", http.StatusNotFound},
		{http.MethodPost, "/compat/x/../provider-a/xml", "", "route_not_found", http.StatusNotFound},
	} {
		resp, body := send(t, c.method, proxy.URL+c.path, nil, nil)
		if resp.status != c.status || resp.header.Get("Allow") != c.allow {
			t.Errorf("%s %s: got %d, Allow %q, want %d, %q", c.method, c.path, resp.status, resp.header.Get("Allow"), c.status,
				c.allow)
		}
		for _, want := range []string{
			`"code":"` + c.code + `"`, `"request_id":"` + resp.header.Get("Request-Id") + `"`,
			`"doc_url":"/docs#error-` + c.code + `"`,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("%s %s: got %s, want %s in it", c.method, c.path, body, want)
			}
		}
	}
}

// TestServerOptions checks OPTIONS *, which names no path. ServeMux would refuse it without a body.
func TestServerOptions(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, nil)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodOptions, "*", http.NoBody)
	w := httptest.NewRecorder()
	proxy.Config.Handler.ServeHTTP(w, r)
	if got := w.Body.String(); w.Code != http.StatusNotFound || !strings.Contains(got, `"code":"route_not_found"`) ||
		!strings.Contains(got, w.Header().Get("Request-Id")) || w.Header().Get("Request-Id") == "" {
		t.Errorf("got %d %v %q, want v1's 404", w.Code, w.Header(), got)
	}
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, func(c *compatproxy.Config) { c.DropInPaths = true })
	for _, p := range []string{path, dropIn, path + "/", dropIn + "/"} {
		resp, _ := send(t, http.MethodOptions, proxy.URL+p, nil, nil)
		preflight(t, resp)
		for _, body := range []string{sale, "{", ""} { // the response after a preflight must be readable too
			resp, _ = send(t, http.MethodPost, proxy.URL+p, strings.NewReader(body), nil)
			if got, want := resp.header.Get("Access-Control-Allow-Origin"), "*"; got != want {
				t.Errorf("%s %q: origin: got %q, want %q", p, body, got, want)
			}
		}
	}
}

func preflight(t *testing.T, resp reply) {
	t.Helper()
	if resp.status != http.StatusOK {
		t.Errorf("got %d, want 200", resp.status)
	}
	for header, want := range map[string]string{
		"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "PUT,OPTIONS,POST,GET",
		"Access-Control-Allow-Headers":     "x-requested-with,cache-control,content-type,origin,method,SOAPAction",
		"Access-Control-Allow-Credentials": "",
	} {
		if got := resp.header.Get(header); got != want {
			t.Errorf("%s: got %q, want %q", header, got, want)
		}
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, nil)
	if r, health := send(t, http.MethodGet, proxy.URL+"/health", nil, nil); r.status != http.StatusOK ||
		!strings.Contains(health, `"ok"`) {
		t.Errorf("health: got %d %s", r.status, health)
	}
	_, body := send(t, http.MethodGet, proxy.URL+"/compat/methods", nil, nil)
	want := `{"object":"list","data":[{"provider":"provider-a","name":"createTransactionRequest","http_method":"POST",` +
		`"path":"/compat/provider-a/xml","rpc":"compat.provider-a.createTransactionRequest",` +
		`"maps_to":["payment.authorize","payment.capture","payment.void","payment.refund"],"side_effect":"money_movement",` +
		`"scopes":["payments:authorize","compat:use"],"available":true},`
	if !strings.HasPrefix(body, want) {
		t.Errorf("got %s, want it to begin with %s", body, want)
	}
	if got, want := strings.Count(body, `"available":true`), len(catalogue.Methods()); got != want {
		t.Errorf("methods: got %d, want %d", got, want)
	}
}

// TestMethodsByRPC: every method of the catalogue is served by its RPC name.
func TestMethodsByRPC(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, nil)
	for _, m := range catalogue.Methods() {
		_, got := callRPC(t, proxy.URL, "", `{"jsonrpc":"2.0","id":1,"method":"`+m.RPC+`","params":{`+login+`,"id":"7"}}`)
		reached := "Authentication Failed"
		if m.Provider == catalogue.ProviderA {
			reached = `"code":"E00003"`
		}
		if !strings.Contains(got, reached) {
			t.Errorf("%s: got %s, want %s of the dialect", m.RPC, got, reached)
		}
	}
}

func TestBusy(t *testing.T) {
	t.Parallel()
	s := &v1{hold: make(chan struct{}), arrived: make(chan struct{}, 1)}
	proxy := mustProxy(t, s, func(c *compatproxy.Config) { c.Concurrency = 1 })
	var first sync.WaitGroup
	first.Go(func() {
		_, body := send(t, http.MethodPost, proxy.URL+path, strings.NewReader(sale), nil)
		if !strings.Contains(body, `"responseCode":"1"`) {
			t.Errorf("first: got %s, want an approval", body)
		}
	})
	<-s.arrived
	resp, body := send(t, http.MethodPost, proxy.URL+path, strings.NewReader(sale), nil)
	if resp.status != http.StatusOK || !strings.Contains(body, `{"code":"E00053","text":"Server too busy"}`) {
		t.Errorf("second: got %d %s, want 200 with E00053", resp.status, body)
	}
	close(s.hold)
	first.Wait()
}

// TestHangUp: a client that hangs up does not stop its payment half-way.
func TestHangUp(t *testing.T) {
	t.Parallel()
	s := &v1{hold: make(chan struct{}), arrived: make(chan struct{}, 1)}
	proxy := mustProxy(t, s, nil)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, proxy.URL+path, strings.NewReader(sale))
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() {
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			_ = resp.Body.Close()
		}
		gone <- err
	}()
	<-s.arrived
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatalf("client: got %v, want that it hung up", err)
	}
	close(s.hold)
	proxy.Close() // waits for the handler
	if got, want := s.creates.Load(), int64(1); got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
}

// dropNumbers removes log attributes that may contain any three digits by chance.
func dropNumbers(_ []string, a slog.Attr) slog.Attr {
	switch a.Key {
	case slog.TimeKey, "duration_ms", "request_id", "bytes":
		return slog.Attr{}
	}
	return a
}

func TestLogHoldsNoSecret(t *testing.T) {
	t.Parallel()
	var out programtest.Log
	proxy := mustProxy(t, &v1{}, func(c *compatproxy.Config) {
		c.Log = slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: dropNumbers}))
	})
	send(t, http.MethodPost, proxy.URL+path, strings.NewReader(sale), nil)
	send(t, http.MethodPost, proxy.URL+path, strings.NewReader(strings.Replace(sale, pan, pan+"1", 1)), nil)
	send(t, http.MethodPost, proxy.URL+path, strings.NewReader(sale),
		func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+apiKey) })
	login := `{"authenticateTestRequest":{"merchantAuthentication":{"name":"me","transactionKey":"` + apiKey + `"}}}`
	send(t, http.MethodPost, proxy.URL+path, strings.NewReader(login), nil)
	proxy.Close()
	log := out.String()
	for _, want := range []string{
		`"route":"POST /compat/provider-a/xml"`, `"outcome":"1/1"`, `"outcome":"E00003"`,
		`"outcome":"I00001"`, `"tenant":"mer_1"`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("log: got %s, want %s in it", log, want)
		}
	}
	for _, secret := range []string{pan, apiKey, "987"} {
		if strings.Contains(log, secret) {
			t.Errorf("log: got %s, want no %s in it", log, secret)
		}
	}
}

func TestPanicHasAResponse(t *testing.T) {
	t.Parallel()
	broken := roundTripper(func(*http.Request) (*http.Response, error) { panic("out of order") })
	proxy := mustProxy(t, &v1{}, func(c *compatproxy.Config) { c.Transport = broken })
	resp, body := send(t, http.MethodPost, proxy.URL+path, strings.NewReader(sale), func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
	})
	if resp.status != http.StatusOK || !strings.HasPrefix(body, bom+"{") || !strings.Contains(body, "E00001") {
		t.Errorf("got %d %s, want 200 with E00001 as JSON", resp.status, body)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.yaml")
	if err := os.WriteFile(broken, []byte("provider_a: [{name: shop, transaction_keys: x}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		cfg  compatproxy.Config
		want string
	}{
		{"no v1", compatproxy.Config{DeduplicationSecret: goldentest.Secret()}, "v1"},
		{"no deduplication secret", compatproxy.Config{V1: "http://127.0.0.1"}, "deduplication_secret"},
		{"a v1 with a path", compatproxy.Config{DeduplicationSecret: goldentest.Secret(), V1: "http://127.0.0.1/v1"}, "v1"},
		{"a v1 of another scheme", compatproxy.Config{DeduplicationSecret: goldentest.Secret(), V1: "ftp://127.0.0.1"}, "v1"},
		{"a signature age beyond v1's", compatproxy.Config{
			DeduplicationSecret: goldentest.Secret(), V1: "http://127.0.0.1",
			SignatureAge: 12 * time.Hour,
		}, "signature_age"},
		{"an unknown currency", compatproxy.Config{
			DeduplicationSecret: goldentest.Secret(), V1: "http://127.0.0.1",
			Currency: "USD",
		}, "currency"},
		{"no credentials file", compatproxy.Config{
			DeduplicationSecret: goldentest.Secret(), V1: "http://127.0.0.1",
			Credentials: filepath.Join(dir, "none.yaml"),
		}, "credentials"},
		{"broken credentials", compatproxy.Config{
			DeduplicationSecret: goldentest.Secret(), V1: "http://127.0.0.1",
			Credentials: broken,
		}, "transaction_keys"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := compatproxy.New(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error that names %s", err, tt.want)
			}
		})
	}
}

func TestTLSUpstream(t *testing.T) {
	t.Parallel()
	upstream := goldentest.ServeTLS(t, &v1{})
	pool := upstream.Client().Transport
	p, err := compatproxy.New(compatproxy.Config{
		DeduplicationSecret: goldentest.Secret(), V1: upstream.URL, Transport: pool,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(sale))
	r.TLS = &tls.ConnectionState{}
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, r)
	if got := w.Body.String(); !strings.Contains(got, `"responseCode":"1"`) {
		t.Errorf("got %s, want an approval", got)
	}
}

// TestDate: the date of a response is of the proxy's clock. A client compares it with its own
// clock.
func TestDate(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 4, 5, 6, 7, 8, 0, time.UTC)
	proxy := mustProxy(t, &v1{}, func(c *compatproxy.Config) { c.Clock = clock.NewFake(at) })
	resp, _ := send(t, http.MethodPost, proxy.URL+"/compat/provider-a/xml", strings.NewReader(sale), nil)
	if got := resp.header.Get("Date"); got != at.Format(http.TimeFormat) {
		t.Errorf("got %q, want %q", got, at.Format(http.TimeFormat))
	}
}
