package edge_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// malformed are requests that no handler of a program gets, with the status of the response.
var malformed = map[string]int{
	"nonsense\r\n\r\n":          400,
	"GET / HTTP/1.1\r\n\r\n":    400,
	"GET /%zz HTTP/1.0\r\n\r\n": 400,
	"POST / HTTP/1.1\r\nHost: a\r\nExpect: b\r\nContent-Length: 0\r\n\r\n":        417,
	"GET / HTTP/1.1\r\nHost: a\r\nb: " + strings.Repeat("c", 32<<10) + "\r\n\r\n": 431,
	"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n":               501,
	"GET / HTTP/3.0\r\nHost: a\r\n\r\n":                                           505,
}

// requestID is the pattern of the contract.
var requestID = regexp.MustCompile("^req_[0-9a-hjkmnp-tv-z]{13}$")

// testMalformed sends malformed requests and unknown paths to each listener of each program. Each
// response has the body of v1's errors. None has HSTS: it is plain HTTP.
func testMalformed(t *testing.T, r *deployment) {
	t.Helper()
	const unknown = "GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
	for at, status := range map[string]int{
		r.ip + portCore:   403, // the request did not pass mle-filter
		r.ip + portCompat: 404, r.ip + portFilter: 404, "unix:" + r.path("http.sock"): 404,
		r.ip + adminCore: 404, r.ip + adminCompat: 404, r.ip + adminFilter: 404, r.ip + adminEdge: 404,
	} {
		for text, status := range malformed {
			wantRefusal(t, at, text, status)
		}
		wantRefusal(t, at, unknown, status)
	}
	const method = "POST /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
	for _, at := range []string{adminCore, adminCompat, adminFilter, adminEdge} {
		wantRefusal(t, r.ip+at, method, 405)
	}
}

// wantRefusal sends a text to a listener, and checks the response.
func wantRefusal(t *testing.T, at, text string, status int) {
	t.Helper()
	network, address := "tcp", at
	if path, ok := strings.CutPrefix(at, "unix:"); ok {
		network, address = "unix", path
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // it was read
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%s: %.40q: %v", at, text, err)
	}
	defer got.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	var e v1.ErrorBody
	if err := json.Unmarshal(body, &e); err != nil || got.StatusCode != status || e.Error.Status != status ||
		e.Error.Code == "" || e.Error.Message == "" || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s: %.40q: got %d %v %s, want %d", at, text, got.StatusCode, got.Header, body, status)
	}
	if !requestID.MatchString(e.Error.RequestID) || got.Header.Get("Request-Id") != e.Error.RequestID {
		t.Errorf("%s: %.40q: got the request ids %q and %q", at, text, e.Error.RequestID, got.Header.Get("Request-Id"))
	}
	if hsts := got.Header.Get(tlspolicy.HSTSHeader); hsts != "" {
		t.Errorf("%s: %.40q: got HSTS %q over plain HTTP", at, text, hsts)
	}
}
