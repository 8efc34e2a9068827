package edge_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/sdk"
	"github.com/causeway-pay/causeway/shared/dropin"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
	"github.com/causeway-pay/causeway/shared/tlspolicy/tlspolicytest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

const sale = `{"amount":1250,"currency":"usd","payment_method":"card","card":{"number":"4111111111111111",` +
	`"exp_month":4,"exp_year":2031}%s}`

// TestEdge runs all checks that leave an edge unchanged. The last one ends a program behind it.
func TestEdge(t *testing.T) {
	t.Parallel()
	r := newDeployment(t)
	r.serve(t)
	t.Run("V1", func(t *testing.T) { testV1(t, r) })
	t.Run("ClientAddress", func(t *testing.T) { testClientAddress(t, r) })
	t.Run("Steering", func(t *testing.T) { testSteering(t, r) })
	t.Run("Encryption", func(t *testing.T) { testEncryption(t, r) })
	t.Run("Trailers", func(t *testing.T) { testTrailers(t, r) })
	t.Run("Requirement", func(t *testing.T) { testRequirement(t, r) })
	t.Run("EncryptionUnavailable", func(t *testing.T) { testEncryptionUnavailable(t, r) })
	t.Run("Paths", func(t *testing.T) { testPaths(t, r) })
	t.Run("Families", func(t *testing.T) { testFamilies(t, r) })
	t.Run("Dialects", func(t *testing.T) { testDialects(t, r) })
	t.Run("Malformed", func(t *testing.T) { testMalformed(t, r) })
	t.Run("UnfinishedBodies", func(t *testing.T) { testUnfinishedBodies(t, r) })
	t.Run("Pages", func(t *testing.T) { testPages(t, r) })
	t.Run("Trust", func(t *testing.T) { testTrust(t, r) })
	t.Run("Policy", func(t *testing.T) { tlspolicytest.Obeys(t, r.https(), "ECDSA", tlspolicy.Policy{}) })
	t.Run("HSTS", func(t *testing.T) { testHSTS(t, r) }) // it ends compat-proxy
	t.Run("Lost", func(t *testing.T) { testLost(t, r) }) // the last one: it begins without compat-proxy
}

// TestTLSAudit runs testssl.sh against an Envoy.
func TestTLSAudit(t *testing.T) {
	t.Parallel()
	r := newDeployment(t)
	r.serve(t)
	for _, flaw := range tlspolicytest.Flaws(tlspolicytest.Audit(t, r.https())) {
		t.Error(flaw)
	}
}

// testV1 makes, captures and lists a payment, and reads the documentation and the health.
func testV1(t *testing.T, r *deployment) {
	t.Helper()
	client := r.client(t, onlyHTTP2)
	made := r.api(t, client, http.MethodPost, "/v1/transactions", strings.Replace(sale, "%s", `,"capture":"manual"`, 1))
	var x v1.Transaction
	if made.status != http.StatusCreated || json.Unmarshal([]byte(made.body), &x) != nil ||
		x.Status != v1.TransactionStatusAuthorized {
		t.Fatalf("create: got %d %s", made.status, made.body)
	}
	captured := r.api(t, client, http.MethodPost, "/v1/transactions/"+x.ID+"/captures", "{}")
	if captured.status != http.StatusCreated || !strings.Contains(captured.body, `"status":"succeeded"`) {
		t.Errorf("capture: got %d %s", captured.status, captured.body)
	}
	if list := r.api(t, client, http.MethodGet, "/v1/transactions", ""); list.status != http.StatusOK ||
		!strings.Contains(list.body, x.ID) {
		t.Errorf("list: got %d %s", list.status, list.body)
	}
	for path, want := range map[string]string{
		"/v1/health": `"status":"ok"`, "/docs": "<html", "/docs/style.css": "{", "/docs/script.js": "use strict",
		"/v1/openapi.json": `"openapi"`,
	} {
		if got := send(t, client, http.MethodGet, "https://"+host+path, ""); got.status != http.StatusOK ||
			!strings.Contains(got.body, want) {
			t.Errorf("%s: got %d %.300s", path, got.status, got.body)
		}
	}
	if r.stat(t, extProcStreams) == 0 {
		t.Error("v1 was served, and the external processor saw nothing of it")
	}
}

// testClientAddress checks that the address of Envoy's peer is the client address that every
// program behind it logs. The address that the client claims has no effect.
func testClientAddress(t *testing.T, r *deployment) {
	t.Helper()
	const address = "127.0.0.77"
	client := r.client(t, func(tr *http.Transport) {
		tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
			return d.DialContext(ctx, "tcp", r.https())
		}
	})
	claims := []string{
		"Authorization", "Bearer " + r.key, "Content-Type", "application/json", "X-Forwarded-For", "203.0.113.66",
		"X-Svc-Int-Client-Address", "203.0.113.66", "X-Real-Ip", "203.0.113.66",
	}
	for _, path := range []string{"/v1/transactions", "/v1/mle/keys/current", "/compat/methods"} {
		if got := send(t, client, http.MethodGet, "https://"+host+path, "", claims...); got.status != http.StatusOK {
			t.Errorf("%s: got %d %s", path, got.status, got.body)
		}
	}
	elsewhere := r.client(t, nil)
	restricted := []string{
		"Authorization", "Bearer " + r.newKey(t, elsewhere, `{"kind":"secret","allowed_addresses":["`+address+`"]}`),
		"X-Forwarded-For", address, "X-Svc-Int-Client-Address", address,
	}
	for _, path := range []string{"/v1/transactions", "/v1/mle/keys/current"} {
		if got := send(t, client, http.MethodGet, "https://"+host+path, "", restricted...); got.status != http.StatusOK {
			t.Errorf("%s with a key of this address: got %d %s", path, got.status, got.body)
		}
		got := send(t, elsewhere, http.MethodGet, "https://"+host+path, "", restricted...)
		if got.status != http.StatusForbidden || !strings.Contains(got.body, "address_not_allowed") {
			t.Errorf("%s with the key from elsewhere: got %d %s", path, got.status, got.body)
		}
	}
	for route, p := range map[string]*programtest.Program{
		"GET /v1/transactions": r.core, "/v1/transactions": r.filter,
		"GET /compat/methods": r.compat,
	} {
		programtest.WaitFor(t, p.Name()+" logs the client address", func() bool {
			for line := range strings.Lines(p.Log.String()) {
				if strings.Contains(line, route+`"`) && strings.Contains(line, `"client_address":"`+address+`"`) {
					return true
				}
			}
			return false
		})
		if strings.Contains(p.Log.String(), "203.0.113.66") {
			t.Errorf("%s logs the address that the client claims", p.Name())
		}
	}
}

// testSteering sends header fields that make Envoy retry a request, if it accepts them from a
// client. Only one payment may exist, for a client on loopback as for any other.
func testSteering(t *testing.T, r *deployment) {
	t.Helper()
	client, sent := r.client(t, nil), strings.Replace(strings.Replace(sale, "%s", "", 1), "1250", "777", 1)
	got := send(t, client, http.MethodPost, "https://"+host+"/v1/transactions", sent, "Authorization", "Bearer "+r.key,
		"Content-Type", "application/json",
		"X-Envoy-Retry-On", "retriable-status-codes", "X-Envoy-Retriable-Status-Codes", "201", "X-Envoy-Max-Retries", "5")
	list := r.api(t, client, http.MethodGet, "/v1/transactions?limit=100", "")
	if n := strings.Count(list.body, `"amount":777,`); got.status != http.StatusCreated || n != 1 {
		t.Errorf("got %d, and %d payments of %s", got.status, n, list.body)
	}
}

// testEncryption runs the programs of mle-filter's README, the programs that register a response
// key, and the Go client, through Envoy and the external processor.
func testEncryption(t *testing.T, r *deployment) {
	t.Helper()
	s := r.system()
	s.V1, s.HTTP = "https://"+host, r.client(t, nil)
	sdk.WaitForKeys(t, s)
	before := r.stat(t, extProcStreams)
	for _, alg := range sdk.Algs {
		sdk.RunLegacy(t, s, alg) // before a response key is registered: it derives the keys
	}
	for i, run := range []func(*testing.T, *sdk.System, string, string){sdk.RunMLE, sdk.RunRegistered} {
		for language, alg := range map[string]string{"node": sdk.Algs[0], "python": sdk.Algs[1]} {
			t.Run(language+[]string{"", " registered"}[i], func(t *testing.T) { run(t, s, language, alg) })
		}
	}
	private := sdk.RegisterKey(t, s)
	for _, alg := range sdk.Algs {
		client := &http.Client{
			Transport: mle.New(mle.Config{Alg: alg, Private: private, Next: r.client(t, nil).Transport}), Timeout: patience,
		}
		if got := r.api(t, client, http.MethodPost, "/v1/transactions",
			strings.Replace(sale, "%s", "", 1)); got.status != http.StatusCreated ||
			!strings.Contains(got.body, `"status":"captured"`) {
			t.Errorf("%s: got %d %s", alg, got.status, got.body)
		}
	}
	if seen := r.stat(t, extProcStreams) - before; seen < 4 {
		t.Errorf("the external processor got %d requests, want once for each request at least", seen)
	}
	metrics := send(t, http.DefaultClient, http.MethodGet, r.url(adminFilter)+"/metrics", "").body
	for _, alg := range sdk.Algs {
		if !strings.Contains(metrics, `causeway_mle_exchanges_total{request="`+alg+`"`) {
			t.Errorf("mle-filter counted no request by %s", alg)
		}
	}
}

// testRequirement announces a requirement to encrypt while the programs run. Clients read it
// without a key and with the current key, until it is withdrawn.
func testRequirement(t *testing.T, r *deployment) {
	t.Helper()
	client := r.client(t, nil)
	data := r.path("core")
	made := mustOutput(t, "core", "mle", "announce", "POST /v1/tokens", "--from", "2999-01-31", "--data", data)
	shown := func(shows bool) {
		t.Helper()
		programtest.WaitFor(t, "the requirement is published or withdrawn", func() bool {
			all := send(t, client, http.MethodGet, "https://"+host+"/v1/mle/requirements", "").body
			current := r.api(t, client, http.MethodGet, "/v1/mle/keys/current", "").body
			return strings.Contains(all, made) == shows && strings.Contains(current, made) == shows
		})
	}
	shown(true)
	if got := r.api(t, client, http.MethodPost, "/v1/tokens", tokenBody); got.status != http.StatusCreated {
		t.Errorf("before its date: got %d %s", got.status, got.body)
	}
	mustOutput(t, "core", "mle", "withdraw", made, "--data", data)
	shown(false)
}

const tokenBody = `{"card":{"number":"4111111111111111","exp_month":4,"exp_year":2031}}`

// testEncryptionUnavailable checks routes without mle-filter, and legacy requests without an API
// key. A request for encryption is rejected before it has any effect, and never gets a plain
// response.
func testEncryptionUnavailable(t *testing.T, r *deployment) {
	t.Helper()
	client := r.client(t, nil)
	for _, path := range []string{
		"/xml/v1/request.api", "/compat/methods", "/compat/rpc", "/pts/v2/payments",
		"/risk/v1/decisions", "/tss/v2/transactions/1", "/flex/v2/sessions", "/v1/health",
	} {
		for name, sent := range map[string]struct {
			fields []string
			code   string // by mle-filter
		}{
			"Answer":  {[]string{"X-Svc-Mle-Response", "required"}, "mle_not_supported"},
			"Other":   {[]string{"X-Svc-Mle-Response", "optional"}, "invalid_value"},
			"Version": {[]string{"X-Svc-Mle", "v1"}, "unsupported_media_type"},
			"Key":     {[]string{"X-Svc-Mle-Response-Kid", "x"}, "invalid_value"},
			"Type":    {[]string{"Content-Type", "application/JOSE"}, "unsupported_media_type"},
		} {
			want := sent.code
			if path == "/v1/health" { // Envoy itself rejects it
				want = "mle_not_supported"
			}
			before := r.stat(t, compatRequests)
			got := send(t, client, http.MethodPost, "https://"+host+path, "{}", sent.fields...)
			var body v1.ErrorBody
			if json.Unmarshal([]byte(got.body), &body) != nil || got.status != body.Error.Status ||
				body.Error.Code != want || got.header.Get("Request-Id") != body.Error.RequestID {
				t.Errorf("%s, %s: got %d %v %s", path, name, got.status, got.header, got.body)
			}
			if after := r.stat(t, compatRequests); after != before {
				t.Errorf("%s, %s: compat-proxy got it", path, name)
			}
		}
	}
	if got := send(t, client, http.MethodGet, "https://"+host+"/compat/methods", ""); got.status != http.StatusOK {
		t.Errorf("in the clear: got %d %s", got.status, got.body)
	}
}

// testPaths checks that no spelling of a path brings a request past mle-filter to core. The request
// has no key: core behind mle-filter responds 401, and Envoy rejects the other spellings.
func testPaths(t *testing.T, r *deployment) {
	t.Helper()
	for path, want := range map[string]struct {
		status int
		code   string
	}{
		"/compat/../v1/transactions":         {401, "invalid_api_key"},
		"/compat/%2e%2e/v1/transactions":     {401, "invalid_api_key"},
		"//v1/transactions":                  {401, "invalid_api_key"},
		"/compat%2f..%2fv1/transactions":     {400, "invalid_request"},
		"/compat/..%2fv1/transactions":       {400, "invalid_request"},
		"/compat/..%5cv1/transactions":       {400, "invalid_request"},
		"/V1/transactions":                   {404, "route_not_found"},
		"/v1%00/transactions":                {400, "invalid_request"},
		"/compat/%252e%252e/v1/transactions": {404, ""},
		"/v1/health/../transactions":         {401, "invalid_api_key"},
		"/v1/mle/../transactions":            {401, "invalid_api_key"},
		"/admin/v1/events":                   {404, "route_not_found"},
		"/metrics":                           {404, "route_not_found"},
	} {
		seen := r.stat(t, extProcStreams)
		got := r.raw(t, "GET "+path+" HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\nX-Svc-Int-Proof: mine\r\n\r\n")
		if got.status != want.status || want.code != "" && !strings.Contains(got.body, `"`+want.code+`"`) {
			t.Errorf("%s: got %d %s, want %v", path, got.status, got.body, want)
		}
		if byFilter := r.stat(t, extProcStreams) > seen; byFilter != (want.status == 401) {
			t.Errorf("%s: seen by the filter: %v", path, byFilter)
		}
	}
	// A request that bypasses the edge lacks mle-filter's proof.
	if got := send(t, http.DefaultClient, http.MethodGet, r.url(portCore)+"/v1/transactions", "", "Authorization",
		"Bearer "+r.key); got.status < 400 {
		t.Errorf("around the edge: got %d %s", got.status, got.body)
	}
}

// testFamilies checks that provider-b's errors arrive for all families of its paths.
func testFamilies(t *testing.T, r *deployment) {
	t.Helper()
	client := r.client(t, nil)
	for _, family := range dropin.FamiliesB() {
		got := send(t, client, http.MethodGet, "https://"+host+"/"+family+"/v2/things", "")
		if got.status != http.StatusUnauthorized || got.body != `{"response":{"rmsg":"Authentication Failed"}}` {
			t.Errorf("%s: got %d %s", family, got.status, got.body)
		}
	}
}

// raw sends bytes that a Go client would normalise.
func (r *deployment) raw(t *testing.T, text string) response {
	t.Helper()
	d := tls.Dialer{Config: &tls.Config{RootCAs: r.roots, ServerName: host, MinVersion: tls.VersionTLS12}}
	conn, err := d.DialContext(t.Context(), "tcp", r.https())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // it was read
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%.80q: %v", text, err)
	}
	defer got.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatalf("%.80q: %v", text, err)
	}
	return response{got.StatusCode, got.Header, string(body)}
}

// testTrust compares the published certificate with the one of a handshake, on every host. Only the
// trust host serves the calendar.
func testTrust(t *testing.T, r *deployment) {
	t.Helper()
	client := r.client(t, nil)
	leaf, err := r.leaf(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{host, trustHost} {
		programtest.WaitFor(t, "the certificate is published on "+name, func() bool {
			got := send(t, client, http.MethodGet, "https://"+name+"/v1/trust/fingerprints", "")
			return got.status == http.StatusOK && strings.Contains(got.body, openssl(t, leaf).fingerprint)
		})
	}
	if got := send(t, client, http.MethodGet, "https://"+trustHost+"/calendar.ics", ""); got.status != http.StatusOK ||
		!strings.HasPrefix(got.body, "BEGIN:VCALENDAR") {
		t.Errorf("calendar: got %d %s", got.status, got.body)
	}
	for _, url := range []string{"https://" + host + "/calendar.ics", "https://" + trustHost + "/v1/transactions"} {
		if got := send(t, client, http.MethodGet, url, ""); got.status != http.StatusNotFound {
			t.Errorf("%s: got %d %s", url, got.status, got.body)
		}
	}
}

// testHSTS checks the HSTS field on responses of every origin.
func testHSTS(t *testing.T, r *deployment) {
	t.Helper()
	client := r.client(t, nil)
	at := "https://" + host
	big := strings.Repeat("x", 256<<10+1)
	wantHSTS(t, "Core", send(t, client, http.MethodGet, at+"/v1/health", ""), 200)
	wantHSTS(t, "Unauthorized", send(t, client, http.MethodGet, at+"/v1/transactions", ""), 401)
	wantHSTS(t, "NoRoute", send(t, client, http.MethodGet, at+"/none", ""), 404)
	wantHSTS(t, "CoresOwn404", r.api(t, client, http.MethodGet, "/v1/none", ""), 404)
	wantHSTS(t, "TooLarge", r.api(t, client, http.MethodPost, "/v1/transactions", big), 413)
	wantHSTS(t, "Filter", send(t, client, http.MethodPost, at+"/v1/transactions", "{}", "Authorization", "Bearer "+r.key,
		"Content-Type", "application/jose"), 415)
	wantHSTS(t, "Legacy", send(t, client, http.MethodGet, at+"/compat/methods", ""), 200)
	r.compat.Kill()
	wantHSTS(t, "Gone", send(t, client, http.MethodGet, at+"/compat/methods", ""), 503)
	plain := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if got := send(t, plain, http.MethodGet,
		r.url(portHTTP)+"/v1/health", ""); got.header.Get(tlspolicy.HSTSHeader) != "" {
		t.Errorf("plain HTTP has HSTS: %d %v", got.status, got.header)
	}
}

func wantHSTS(t *testing.T, name string, got response, status int) {
	t.Helper()
	if values := got.header.Values(tlspolicy.HSTSHeader); got.status != status || len(values) != 1 ||
		values[0] != tlspolicy.HSTS {
		t.Errorf("%s: got %d with HSTS %q, want %d: %.300s", name, got.status, values, status, got.body)
	}
}
