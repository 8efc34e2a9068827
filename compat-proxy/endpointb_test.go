package compatproxy_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
)

const (
	pathB = "/compat/provider-b/pts/v2/payments"
	saleB = `{"clientReferenceInformation":{"code":"ORD-1"},"processingInformation":{"capture":true},` +
		`"paymentInformation":{"card":{"number":"` + pan + `","expirationMonth":"12","expirationYear":"2031"}},` +
		`"orderInformation":{"amountDetails":{"totalAmount":"24.50","currency":"USD"}}}`
	authorizedB = `"status":"AUTHORIZED"`
	messageB    = `"message":"`
	noResourceB = `{"message":"The requested resource does not exist"}`
	noLoginB    = `{"response":{"rmsg":"Authentication Failed"}}`
)

// asB sets the headers of every provider-b request of these tests.
func asB(r *http.Request) {
	r.Header.Set("Authorization", "Bearer "+apiKey)
	r.Header.Set("Content-Type", "application/json;charset=utf-8")
}

// endpointCase is a request to the provider-b endpoints and its response.
type endpointCase struct {
	method, path string
	change       func(*http.Request)
	status       int
	want         string
	payments     int64
}

// endpointCases are requests to every path, by name.
func endpointCases() map[string]endpointCase {
	foreign := func(r *http.Request) { asB(r); r.Host = "apitest.cybersource.com" }
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { asB(r); r.Header.Set(name, value) }
	}
	return map[string]endpointCase{
		"mounted":             {"POST", pathB, asB, 201, authorizedB, 1},
		"slash at the end":    {"POST", pathB + "/", asB, 201, authorizedB, 1},
		"drop-in":             {"POST", "/pts/v2/payments", asB, 201, authorizedB, 1},
		"drop-in with slash":  {"POST", "/pts/v2/payments/", asB, 201, authorizedB, 1},
		"foreign host":        {"POST", "/pts/v2/payments", foreign, 201, authorizedB, 1},
		"any encoding":        {"POST", pathB, header("Accept-Encoding", "*"), 201, authorizedB, 1},
		"100 Continue":        {"POST", pathB, header("Expect", "100-continue"), 201, authorizedB, 1},
		"query":               {"POST", pathB + "?a=1", asB, 201, authorizedB, 1},
		"empty segment":       {"POST", "/compat/provider-b/pts//v2/payments", asB, 404, messageB, 0},
		"dots":                {"POST", "/compat/provider-b/pts/v2/./payments", asB, 404, messageB, 0},
		"dots upwards":        {"POST", "/compat/provider-b/pts/v2/x/../payments", asB, 404, messageB, 0},
		"two slashes in root": {"POST", "/pts/v2//payments", asB, 404, messageB, 0},
		"unknown":             {"POST", "/compat/provider-b/pts/v2/nothing", asB, 404, noResourceB, 0},
		// A client that joins its base URL and a link sends the mount path twice.
		"twice":             {"POST", "/compat/provider-b" + pathB, asB, 201, authorizedB, 1},
		"twice, with slash": {"POST", "/compat/provider-b" + pathB + "/", asB, 201, authorizedB, 1},
		"three times":       {"POST", "/compat/provider-b/compat/provider-b" + pathB, asB, 404, noResourceB, 0},
		"twice at the root": {"POST", "/pts/v2/pts/v2/payments", asB, 404, noResourceB, 0},
		"another family":    {"POST", "/risk/v1/authentication-setups", asB, 404, noResourceB, 0},
		"bare family":       {"GET", "/pts", asB, 404, noResourceB, 0},
		"without a version": {"POST", "/unifiedrisk", asB, 404, noResourceB, 0},
		"browser sessions":  {"POST", "/flex/v2/sessions", asB, 404, noResourceB, 0},
		"webhooks":          {"GET", "/notification-subscriptions/v2/webhooks", asB, 404, noResourceB, 0},
		"reports, no login": {"GET", "/reporting/v3/reports", func(*http.Request) {}, 401, noLoginB, 0},
		"stored objects":    {"DELETE", "/tms/v1/paymentinstruments/pm_1", asB, 404, noResourceB, 0},
		"another version":   {"POST", "/pts/v1/transaction-batches", asB, 404, noResourceB, 0},
		"no login, family":  {"POST", "/risk/v1/decisions", func(*http.Request) {}, 401, noLoginB, 0},
		"unknown drop-in":   {"GET", "/tss/v2/nothing", asB, 404, noResourceB, 0},
		"no login":          {"POST", pathB, func(*http.Request) {}, 401, noLoginB, 0},
		"no login, unknown": {"POST", "/pts/v2/nothing", func(*http.Request) {}, 401, noLoginB, 0},
		"get":               {"GET", pathB, asB, 405, messageB, 0},
		"put":               {"PUT", pathB, asB, 405, messageB, 0},
		"packed":            {"POST", pathB, header("Content-Encoding", "gzip"), 415, messageB, 0},
	}
}

// TestEndpointB covers every path of the provider-b endpoints, and every response before their
// methods.
func TestEndpointB(t *testing.T) {
	t.Parallel()
	for name, tt := range endpointCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &v1{}
			proxy := mustProxy(t, s, func(c *compatproxy.Config) { c.DropInPaths = true })
			resp, body := send(t, tt.method, proxy.URL+tt.path, strings.NewReader(saleB), tt.change)
			if resp.status != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("got %d %s, want %d with %s", resp.status, body, tt.status, tt.want)
			}
			checkHeadB(t, resp)
			if allow := resp.header.Get("Allow"); (allow == "POST") != (tt.status == 405) {
				t.Errorf("got %d with Allow %q", resp.status, allow)
			}
			if got := s.creates.Load(); got != tt.payments {
				t.Errorf("payments: got %d, want %d", got, tt.payments)
			}
		})
	}
}

func checkHeadB(t *testing.T, resp reply) {
	t.Helper()
	if got := resp.header.Get("Content-Type"); !strings.HasPrefix(got, "application/hal+json") {
		t.Errorf("content type: got %q", got)
	}
	if resp.header.Get("v-c-correlation-id") == "" {
		t.Error("no correlation id")
	}
	if resp.header.Get("Location") != "" {
		t.Error("a redirect")
	}
}

// Without DropInPaths the provider's own paths do not exist.
func TestEndpointB_noDropIn(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, nil)
	for _, path := range []string{"/pts/v2/payments", "/risk/v1/decisions", "/flex/v2/sessions"} {
		resp, body := send(t, http.MethodPost, proxy.URL+path, strings.NewReader(saleB), asB)
		if resp.status != http.StatusNotFound || !strings.Contains(body, "route_not_found") {
			t.Errorf("%s: got %d %s", path, resp.status, body)
		}
	}
}

// TestEndpointB_links checks that links begin with the mount path at which the request was
// received.
func TestEndpointB_links(t *testing.T) {
	t.Parallel()
	for _, dropIn := range []bool{false, true} {
		proxy := mustProxy(t, &v1{}, func(c *compatproxy.Config) { c.DropInPaths = dropIn })
		for _, path := range []string{pathB, "/pts/v2/payments"} {
			if path != pathB && !dropIn {
				continue
			}
			_, body := send(t, http.MethodPost, proxy.URL+path, strings.NewReader(saleB), asB)
			if !strings.Contains(body, `"href":"`+path+"/") {
				t.Errorf("drop-in paths %v, %s: got %s", dropIn, path, body)
			}
		}
	}
}

// The response has the client's correlation id, unless that is too long.
func TestEndpointB_correlation(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, nil)
	request := func(id string) string {
		resp, _ := send(t, http.MethodPost, proxy.URL+pathB, strings.NewReader(saleB),
			func(r *http.Request) { asB(r); r.Header.Set("v-c-correlation-id", id) })
		return resp.header.Get("v-c-correlation-id")
	}
	if got, want := request("abc-1"), "abc-1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := request(strings.Repeat("x", 500)); len(got) != 36 {
		t.Errorf("got %q, want a UUID", got)
	}
	if one, two := request(""), request(""); one == two {
		t.Errorf("got %q twice", one)
	}
}

func TestEndpointB_tooLarge(t *testing.T) {
	t.Parallel()
	s := &v1{}
	proxy := mustProxy(t, s, nil)
	for name, body := range map[string]io.Reader{
		"announced":   strings.NewReader(strings.Repeat(" ", 300<<10)),
		"unannounced": io.MultiReader(strings.NewReader(strings.Repeat(" ", 300<<10))),
	} {
		resp, text := send(t, http.MethodPost, proxy.URL+pathB, body, asB)
		if resp.status != http.StatusRequestEntityTooLarge || !strings.Contains(text, messageB) {
			t.Errorf("%s: got %d %s", name, resp.status, text)
		}
		checkHeadB(t, resp)
	}
}

// Some clients read no response before they have sent the whole body.
func TestEndpointB_tooLargeByFar(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, nil)
	body := strings.Repeat(" ", 5<<20)
	for _, announced := range []string{
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body,
		"Transfer-Encoding: chunked\r\n\r\n" + strconv.FormatInt(int64(len(body)), 16) + "\r\n" + body + "\r\n0\r\n\r\n",
	} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(proxy.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := io.WriteString(conn, "POST "+pathB+" HTTP/1.1\r\nHost: a\r\n"+announced); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("got %d", resp.StatusCode)
		}
		_ = resp.Body.Close()
	}
}

// A proxy without capacity responds in the dialect's form, and executes nothing.
func TestEndpointB_busy(t *testing.T) {
	t.Parallel()
	s := &v1{hold: make(chan struct{}), arrived: make(chan struct{}, 1)}
	proxy := mustProxy(t, s, func(c *compatproxy.Config) { c.Concurrency = 1 })
	first := make(chan int, 1)
	go func() {
		resp, _ := send(t, http.MethodPost, proxy.URL+pathB, strings.NewReader(saleB), asB)
		first <- resp.status
	}()
	<-s.arrived
	resp, body := send(t, http.MethodPost, proxy.URL+pathB, strings.NewReader(saleB), asB)
	close(s.hold)
	if resp.status != http.StatusServiceUnavailable || !strings.Contains(body, messageB) ||
		resp.header.Get("Retry-After") == "" {
		t.Errorf("got %d %s", resp.status, body)
	}
	checkHeadB(t, resp)
	if got := <-first; got != http.StatusCreated {
		t.Errorf("the first: got %d", got)
	}
	if got := s.creates.Load(); got != 1 {
		t.Errorf("payments: got %d, want 1", got)
	}
}

type panicking struct{}

func (panicking) RoundTrip(*http.Request) (*http.Response, error) { panic(pan) }

// The response to a panic has the dialect's form, and no log has the text of the panic.
func TestEndpointB_panic(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	p, err := compatproxy.New(compatproxy.Config{
		DeduplicationSecret: goldentest.Secret(),
		V1:                  "http://127.0.0.1:1", Transport: panicking{}, Log: slog.New(slog.NewJSONHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, pathB, strings.NewReader(saleB))
	asB(r)
	p.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), messageB) {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	checkHeadB(t, reply{header: w.Header()})
	if strings.Contains(log.String(), pan) {
		t.Errorf("the log has the card number: %s", log.String())
	}
}

// The log has the operation and its outcome, and nothing of the payer.
func TestEndpointB_log(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	upstream := goldentest.Serve(t, &v1{})
	p, err := compatproxy.New(compatproxy.Config{
		DeduplicationSecret: goldentest.Secret(), V1: upstream.URL,
		Log: slog.New(slog.NewJSONHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, pathB, strings.NewReader(saleB))
	asB(r)
	p.Handler().ServeHTTP(w, r)
	for _, want := range []string{`"POST /compat/provider-b/pts/v2/payments"`, `"AUTHORIZED"`, `"mer_1"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s: %s", want, log.String())
		}
	}
	if strings.Contains(log.String(), pan) || strings.Contains(log.String(), apiKey) {
		t.Errorf("the log has a secret: %s", log.String())
	}
}

// A request is counted by its method and the class of its outcome.
func TestEndpointB_metrics(t *testing.T) {
	t.Parallel()
	upstream := goldentest.Serve(t, &v1{})
	p, err := compatproxy.New(compatproxy.Config{DeduplicationSecret: goldentest.Secret(), V1: upstream.URL})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{
		saleB, strings.Replace(saleB, pan, "4111111111111112", 1), "{}",
		strings.Replace(saleB, "24.50", "x", 1),
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, pathB, strings.NewReader(body))
		asB(r)
		p.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}
	p.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, pathB,
		strings.NewReader(saleB)))
	w := httptest.NewRecorder()
	p.Operations().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`causeway_compat_request_seconds_count{method="createPayment",outcome="approved"} 1`,
		`causeway_compat_request_seconds_count{method="createPayment",outcome="declined"} 1`,
		`causeway_compat_request_seconds_count{method="createPayment",outcome="refused"} 2`,
		`causeway_compat_request_seconds_count{method="none",outcome="refused"} 1`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

// TestEndpointB_http2 sends requests like OkHttp and libcurl: by HTTP/2, with the provider's host
// name.
func TestEndpointB_http2(t *testing.T) {
	t.Parallel()
	upstream := goldentest.Serve(t, &v1{})
	p, err := compatproxy.New(compatproxy.Config{
		DeduplicationSecret: goldentest.Secret(), V1: upstream.URL,
		DropInPaths: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(p.Handler())
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost,
		server.URL+"/pts/v2/payments", strings.NewReader(saleB))
	if err != nil {
		t.Fatal(err)
	}
	asB(r)
	r.Host = "api.cybersource.com"
	resp, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // nothing of it is read
	if resp.ProtoMajor != 2 || resp.StatusCode != http.StatusCreated || resp.TLS.Version < tls.VersionTLS12 {
		t.Errorf("got HTTP/%d %d", resp.ProtoMajor, resp.StatusCode)
	}
}

// TestRPC_providerB makes a payment by RPC, alone and in a batch.
func TestRPC_providerB(t *testing.T) {
	t.Parallel()
	s := &v1{}
	proxy := mustProxy(t, s, nil)
	one := `{"jsonrpc":"2.0","id":1,"method":"compat.provider-b.createPayment","params":` + saleB + `}`
	for _, tt := range []struct{ bearer, body, want string }{
		{apiKey, one, `{"jsonrpc":"2.0","result":{"_links":{"self":{"href":"` + pathB + "/"},
		{apiKey, "[" + one + "," + one + "]", authorizedB},
		{"nonsense", one, `"result":{"response":{"rmsg":"Authentication Failed"}}`},
		{apiKey, strings.Replace(one, `"24.50"`, `"x"`, 1), `"result":{"id":"`},
		{apiKey, strings.Replace(one, `"24.50"`, `{}`, 1), `"field":"orderInformation.amountDetails.totalAmount"`},
	} {
		status, response := callRPC(t, proxy.URL, tt.bearer, tt.body)
		if status != http.StatusOK || !strings.Contains(response, tt.want) {
			t.Errorf("got %d %s, want %s in it", status, response, tt.want)
		}
	}
	if got := s.creates.Load(); got != 3 {
		t.Errorf("payments: got %d, want 3", got)
	}
}
