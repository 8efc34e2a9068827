package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

const (
	unavailable = "503 service_unavailable"
	lost        = "502 response_lost"

	fine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
)

// misbehaviours are faults of an upstream after it has read the nth request of a connection
// completely. Each reports whether the connection stays open.
var misbehaviours = map[string]func(c net.Conn, n int) (stays bool){
	"resets": func(c net.Conn, _ int) bool { return reset(c) },
	"closes": func(net.Conn, int) bool { return false },
	"garbles": func(c net.Conn, _ int) bool {
		_, _ = io.WriteString(c, "NONSENSE\r\n\r\n")
		return false
	},
	"stops": func(c net.Conn, _ int) bool {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Le")
		return reset(c)
	},
	"kept": func(c net.Conn, n int) bool {
		if n > 1 {
			return reset(c)
		}
		_, _ = io.WriteString(c, fine)
		return true
	},
}

// reset resets a connection instead of closing it.
func reset(c net.Conn) bool {
	programtest.Reset(c)
	return false
}

// serveConn reads requests from a connection until one ends it.
func serveConn(c net.Conn, misbehave func(c net.Conn, n int) (stays bool)) {
	defer c.Close() //nolint:errcheck // nothing depends on it
	in := bufio.NewReader(c)
	for n, stays := 1, true; stays; n++ {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		stays = misbehave(c, n)
	}
}

// listen serves the connections of a new listener.
func listen(t *testing.T, serve func(net.Conn)) net.Listener {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return ln
}

// unsentTestbed returns a testbed with an upstream for each fault. The path /NAME is routed to it.
func unsentTestbed(t *testing.T) (b *testbed, leaves net.Listener) {
	t.Helper()
	b = newTestbed(t)
	at := map[string]string{}
	for name, misbehave := range misbehaviours {
		at[name] = listen(t, func(c net.Conn) { serveConn(c, misbehave) }).Addr().String()
	}
	leaves = listen(t, func(c net.Conn) {
		serveConn(c, func(c net.Conn, _ int) bool {
			_, _ = io.WriteString(c, fine)
			return false
		})
	})
	at["leaves"] = leaves.Addr().String()
	refuses := listen(t, func(net.Conn) {})
	at["refuses"] = refuses.Addr().String()
	_ = refuses.Close()
	issued := certtest.Root(t).Issue(t, certtest.Hosts("core.example.com"))
	stranger := &tls.Config{Certificates: []tls.Certificate{issued.Pair(t).Certificate}, MinVersion: tls.VersionTLS12}
	at["stranger"] = listen(t, func(c net.Conn) {
		serveConn(tls.Server(c, stranger), func(net.Conn, int) bool {
			t.Error("a request came to a server that has no certificate for it")
			return false
		})
	}).Addr().String()
	for name, address := range at {
		more := ""
		if name == "stranger" {
			more = ", server_name: core.example.com, ca: " + b.path("authority.pem")
		}
		b.upstreams += fmt.Sprintf(", %s: {address: %q%s}", name, address, more)
		b.routes += fmt.Sprintf("  - {path: /%s, upstream: %s, mle: off}\n", name, name)
	}
	certtest.Replace(t, b.path("authority.pem"), certtest.PEM(b.authority.Certificate))
	b.configure(t, "")
	b.run(t)
	b.envoy(t).Listeners(t)
	return b, leaves
}

// TestUnavailableIsUnsent checks that service_unavailable means no effect. Envoy may return it for
// an upstream only if the upstream got no part of the request. Every other failure is
// response_lost.
func TestUnavailableIsUnsent(t *testing.T) {
	t.Parallel()
	b, leaves := unsentTestbed(t)
	for _, client := range []*http.Client{b.client(), b.http2()} {
		for path, want := range map[string]string{
			"/resets": lost, "/closes": lost, "/garbles": lost, "/stops": lost,
			"/gone": unavailable, "/refuses": unavailable, "/stranger": unavailable,
			endsBefore: unavailable, endsAfter: lost,
		} {
			for _, method := range []string{http.MethodPost, http.MethodGet} {
				b.wantFailure(t, client, method, path, want)
			}
		}
		for range 3 { // the first and third on new connections, the second on the kept one
			got := b.send(t, client, http.MethodPost, "https://"+host+"/kept", "{}")
			if got.status == http.StatusOK {
				b.wantFailure(t, client, http.MethodPost, "/kept", lost)
			}
		}
	}
	if got := b.send(t, b.client(), http.MethodPost, "https://"+host+"/leaves", "{}"); got.status != http.StatusOK {
		t.Errorf("before it leaves: got %d %s", got.status, got.body)
	}
	_ = leaves.Close()
	b.wantFailure(t, b.client(), http.MethodPost, "/leaves", unavailable)
}

// wantFailure checks Envoy's own response to a request.
func (b *testbed) wantFailure(t *testing.T, by *http.Client, method, path, want string) {
	t.Helper()
	got := b.send(t, by, method, "https://"+host+path, "{}")
	var decoded struct {
		Error struct {
			Code      string
			Status    int
			RequestID string `json:"request_id"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(got.body), &decoded); err != nil {
		t.Errorf("%s %s: %v in %d %s", method, path, err, got.status, got.body)
	}
	if shown := fmt.Sprintf("%d %s", got.status, decoded.Error.Code); shown != want || decoded.Error.Status != got.status {
		t.Errorf("%s %s: got %s %s, want %s", method, path, shown, got.body, want)
	}
	if after := got.header.Get("Retry-After"); (after != "") != strings.HasPrefix(want, "503") {
		t.Errorf("%s %s: %s with Retry-After %q", method, path, want, after)
	}
	if got.header.Get(tlspolicy.HSTSHeader) != tlspolicy.HSTS || decoded.Error.RequestID != got.header.Get("Request-Id") {
		t.Errorf("%s %s: got %v %s", method, path, got.header, got.body)
	}
}
