package httpx_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/httpx"
)

// TestServerClosesAfterAChunkedRequest: a request with both lengths may hide a second request, so
// the server serves nothing after it on the connection. After a request with only a Content-Length,
// the connection stays open.
func TestServerClosesAfterAChunkedRequest(t *testing.T) {
	t.Parallel()
	s := httpx.NewServer(httpx.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body) // a broken connection shows below
	})})
	at := strings.TrimPrefix(mustStart(t, s), "http://")
	const next = "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"
	for head, kept := range map[string]bool{
		"Content-Length: 12\r\n\r\n2\r\nab\r\n0\r\n\r\n":                               true,
		"Content-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n": false,
		"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n2\r\nab\r\n0\r\n\r\n":  false,
		"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n":                       false,
	} {
		first, second := exchange(t, at, "POST / HTTP/1.1\r\nHost: x\r\n"+head+next) //nolint:bodyclose // exchange does
		if first.StatusCode != http.StatusOK || first.Close == kept || second != kept {
			t.Errorf("%q: got %d, close %t, a second response %t; kept: want %t", head, first.StatusCode, first.Close, second,
				kept)
		}
	}
}

// exchange sends text on a connection and reads the first response, and reports whether another
// follows.
func exchange(t *testing.T, at, text string) (first *http.Response, another bool) {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // all was read
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	first, err = http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, first.Body)
	if err = errors.Join(err, first.Body.Close()); err != nil {
		t.Fatal(err)
	}
	second, err := http.ReadResponse(in, nil)
	if err != nil {
		return first, false
	}
	return first, second.Body.Close() == nil
}
