package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// TestPlainHTTP checks that plain HTTP redirects without an HSTS field.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	b := served(t)
	client := b.plainClient()
	got := b.send(t, client, "POST", "http://"+host+"/v1/x?a=b", "{}")
	if got.status != 308 || got.header.Get("Location") != "https://"+host+"/v1/x?a=b" ||
		got.header.Get(tlspolicy.HSTSHeader) != "" {
		t.Errorf("got %d %v", got.status, got.header)
	}
	for _, port := range []string{":8088", ":80", ":443"} {
		if got := b.send(t, client, "GET", "http://"+host+port+"/v1/x", ""); got.header.Get("Location") != "https://"+host+
			"/v1/x" {
			t.Errorf("%s: got %d %v", port, got.status, got.header)
		}
	}
	if got := b.send(t, client, "GET", "http://other.example.com/", ""); got.status != 421 {
		t.Errorf("another host: got %d %v", got.status, got.header)
	}
	long := b.send(t, client, "GET", "http://"+host+"/", "", "X-Long", strings.Repeat("x", 4<<10))
	if long.status != 431 {
		t.Errorf("a header of more than 4 kB: got %d %v", long.status, long.header)
	}
	if _, n := b.core.last(); n != 0 {
		t.Error("core was reached by plain HTTP")
	}
}

// TestPlainConnection checks that a connection to the port of plain HTTP ends after its first
// response. A client could otherwise keep it by further requests.
func TestPlainConnection(t *testing.T) {
	t.Parallel()
	b := served(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.plainClient().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close() //nolint:errcheck // the head suffices
	if got.StatusCode != http.StatusPermanentRedirect || !got.Close {
		t.Errorf("got %s, closed: %t, want a redirect that ends the connection", got.Status, got.Close)
	}
}

// plainClient returns a client that connects to Envoy's port of plain HTTP for every host name.
func (b *testbed) plainClient() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", b.http)
		}},
	}
}

// TestPlainHTTP2 checks that the port of plain HTTP takes no HTTP/2. A client of it that reads no
// response makes Envoy hold a hundred requests on each connection.
func TestPlainHTTP2(t *testing.T) {
	t.Parallel()
	b := served(t)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", b.http)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := http2.NewFramer(conn, nil).WriteSettings(); err != nil {
		t.Fatal(err)
	}
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close() //nolint:errcheck // the status suffices
	if got.StatusCode < 400 || got.StatusCode >= 500 || !got.Close {
		t.Errorf("got %s, want a refusal that ends the connection", got.Status)
	}
}

// TestRateOfPlainHTTP checks that a client address above the rate limit is refused on the port of
// plain HTTP too.
func TestRateOfPlainHTTP(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.configure(t, "limits: {rate: 1, burst: 3}")
	b.run(t)
	b.envoy(t).Listeners(t)
	client := b.plainClient()
	for range 10 {
		got := b.send(t, client, "GET", "http://"+host+"/v1/x", "")
		if got.status == http.StatusPermanentRedirect {
			continue
		}
		if got.status != 429 || !strings.Contains(got.body, "rate_limited") || got.header.Get("Retry-After") != "1" {
			t.Errorf("got %d %v %s", got.status, got.header, got.body)
		}
		return
	}
	t.Error("ten concurrent requests were accepted")
}
