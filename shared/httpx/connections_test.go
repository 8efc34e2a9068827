package httpx_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// peer is an open connection to a server.
type peer struct {
	net.Conn

	in *bufio.Reader
}

// mustConnect opens a connection from a loopback address.
func mustConnect(t *testing.T, from, at string) peer {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the test is over
	if err := conn.SetDeadline(clock.System().Now().Add(programtest.Patience)); err != nil {
		t.Fatal(err)
	}
	return peer{conn, bufio.NewReader(conn)}
}

// served reports whether the server responds to a request on the connection.
func (p peer) served(fields ...string) bool {
	head := "GET / HTTP/1.1\r\nHost: x\r\n"
	for _, field := range fields {
		head += field + "\r\n"
	}
	if _, err := io.WriteString(p, head+"\r\n"); err != nil {
		return false
	}
	got, err := http.ReadResponse(p.in, nil)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, got.Body)
	_ = got.Body.Close() // it was read
	return err == nil && got.StatusCode == http.StatusOK
}

// TestConnectionsOfASite checks the largest number of connections of a site, from all its
// addresses. Other sites are served. A closed connection makes room for another one.
func TestConnectionsOfASite(t *testing.T) {
	t.Parallel()
	s := httpx.NewServer(httpx.Options{Handler: hello})
	s.CountPrivate()
	at := mustStart(t, s)
	var first peer
	for i := range httpx.MostConnections {
		p := mustConnect(t, []string{"127.0.1.1", "127.0.1.2"}[i%2], at)
		if !p.served() {
			t.Fatalf("connection %d is not served", i)
		}
		if i == 0 {
			first = p
		}
	}
	for _, from := range []string{"127.0.1.1", "127.0.1.3"} {
		if mustConnect(t, from, at).served() {
			t.Errorf("%s: one more is served", from)
		}
	}
	if !mustConnect(t, "127.0.2.1", at).served() {
		t.Error("another site is not served")
	}
	if !first.served() {
		t.Error("an open connection is not served any more")
	}
	_ = first.Close() // no request is in progress
	programtest.WaitFor(t, "a connection of the site", func() bool { return mustConnect(t, "127.0.1.3", at).served() })
}

// TestConnectionsOfHops checks that hops may have any number of connections: private addresses, and
// sites that show the hop secret.
func TestConnectionsOfHops(t *testing.T) {
	t.Parallel()
	hop := strings.Repeat("h", 43)
	for name, c := range map[string]struct {
		count bool // private addresses, as if they were public
		field string
	}{
		"private":            {false, "X-Other: 1"},
		"shows a hop secret": {true, "X-Svc-Int-Hop: " + hop},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httpx.NewServer(httpx.Options{Handler: hello, Hop: secret.New(hop)})
			if c.count {
				s.CountPrivate()
			}
			at := mustStart(t, s)
			for i := range httpx.MostConnections + 10 {
				if !mustConnect(t, "127.0.1.1", at).served(c.field) {
					t.Fatalf("connection %d is not served", i)
				}
			}
			for i := range httpx.MostConnections + 10 { // none shows the secret yet
				if !mustConnect(t, "127.0.1.1", at).served() {
					t.Fatalf("connection %d after it is not served", i)
				}
			}
		})
	}
}

// TestForgedHop checks that a wrong hop secret exempts no site.
func TestForgedHop(t *testing.T) {
	t.Parallel()
	s := httpx.NewServer(httpx.Options{Handler: hello, Hop: secret.New(strings.Repeat("h", 43))})
	s.CountPrivate()
	at := mustStart(t, s)
	for range httpx.MostConnections {
		if !mustConnect(t, "127.0.1.1", at).served("X-Svc-Int-Hop: forged") {
			t.Fatal("not served")
		}
	}
	if mustConnect(t, "127.0.1.1", at).served("X-Svc-Int-Hop: forged") {
		t.Error("one more is served")
	}
}
