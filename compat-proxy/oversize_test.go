package compatproxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
)

// endless is a body that counts the bytes read of it.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '{'
	}
	e.read.Add(int64(len(b)))
	return len(b), nil
}

// TestBodyTooLarge: a body above the limit gets the response to a malformed one of its format.
func TestBodyTooLarge(t *testing.T) {
	t.Parallel()
	s := &v1{}
	proxy := mustProxy(t, s, nil)
	const (
		inXML  = bom + "<?xml"
		asXML  = "<code>E00003</code><text>An error occurred while parsing the XML request.</text>"
		inJSON = bom + "{"
		asJSON = `{"code":"E00001","text":"An error occurred during processing. Please try again."}`
	)
	for name, tt := range map[string]struct {
		body         io.Reader
		format, want string
	}{
		"XML of known length": {strings.NewReader("<a>" + strings.Repeat(" ", 1<<20)), inXML, asXML},
		"XML, chunked": {
			io.MultiReader(strings.NewReader(bom+"\n<a>"), io.LimitReader(&endless{}, 1<<20)), inXML, asXML,
		},
		"JSON of known length": {strings.NewReader("{" + strings.Repeat(" ", 1<<20)), inJSON, asJSON},
		"JSON, chunked":        {io.LimitReader(&endless{}, 1<<20), inJSON, asJSON},
	} {
		resp, response := send(t, http.MethodPost, proxy.URL+path, tt.body, nil)
		if resp.status != http.StatusOK || !strings.HasPrefix(response, tt.format) || !strings.Contains(response, tt.want) {
			t.Errorf("%s: got %d %s, want 200 with %s", name, resp.status, response, tt.want)
		}
	}
	if got := s.creates.Load(); got != 0 {
		t.Errorf("payments: got %d, want none", got)
	}
}

func TestBodyIsNotReadPastItsLimit(t *testing.T) {
	t.Parallel()
	p, err := compatproxy.New(compatproxy.Config{DeduplicationSecret: goldentest.Secret(), V1: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	body := &endless{}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, io.NopCloser(body))
	r.ContentLength = -1
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, r)
	if got, most := body.read.Load(), int64(257<<10); got > most {
		t.Errorf("read: got %d bytes, want at most %d", got, most)
	}
	if got := w.Body.String(); !strings.HasPrefix(got, bom+"{") {
		t.Errorf("got %s, want a response in the request's format", got)
	}
}

// TestOversizeIsNotWaitedFor: a body with too great a Content-Length gets a response after its
// first bytes. An earlier version waited half a minute for the rest.
func TestOversizeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := &v1{}
	proxy := mustProxy(t, s, nil)
	for name, header := range map[string]string{"first bytes": "", "100 Continue": "Expect: 100-continue\r\n"} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", proxy.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_, err = io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\n"+
			header+"Content-Length: 1048576\r\n\r\n")
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.Body.Close() != nil || resp.StatusCode != http.StatusOK ||
			!strings.Contains(string(body), "<code>E00003</code>") {
			t.Errorf("%s: got %d %s, %v", name, resp.StatusCode, body, err)
		}
	}
	if got := s.creates.Load(); got != 0 {
		t.Errorf("payments: got %d, want none", got)
	}
}
