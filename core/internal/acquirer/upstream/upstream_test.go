package upstream_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
)

const (
	planted = "4242424242424242"
	plenty  = 30 * time.Second // a time that no test reaches
)

// peer is a host that serves each connection by a function, and counts the requests by path.
type peer struct {
	url   string
	mu    sync.Mutex
	paths map[string]int
}

// serve returns a peer. respond serves a request. It returns false to close the connection.
func serve(t *testing.T, respond func(path string, c net.Conn) bool) *peer {
	t.Helper()
	listener := listen(t)
	p := &peer{url: "http://" + listener.Addr().String(), paths: map[string]int{}}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() { p.connection(c, respond) })
		}
	})
	t.Cleanup(open.Wait)
	t.Cleanup(func() { _ = listener.Close() })
	return p
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

func (p *peer) connection(c net.Conn, respond func(string, net.Conn) bool) {
	defer func() { _ = c.Close() }()
	for in := bufio.NewReader(c); ; {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.paths[r.URL.Path]++
		p.mu.Unlock()
		if _, err := io.Copy(io.Discard, r.Body); err != nil || !respond(r.URL.Path, c) {
			return
		}
	}
}

func (p *peer) received(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paths[path]
}

func text(c net.Conn, s string) { _, _ = io.WriteString(c, s) }

const fine = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"

func client(t *testing.T, cfg upstream.Config) *upstream.Client {
	t.Helper()
	c, err := upstream.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// post sends a request whose header and body have a card number. The header has the field by which
// net/http decides to repeat a request.
func post(ctx context.Context, t *testing.T, c *upstream.Client, path string) (upstream.Response, error) {
	t.Helper()
	header := http.Header{"Idempotency-Key": {"k"}, "Signature": {planted}}
	response, err := c.Send(ctx, http.MethodPost, path, header, []byte(strings.Repeat(planted, 2000)), upstream.MaxList)
	if err != nil && strings.Contains(err.Error(), "4242") {
		t.Errorf("the error has text of the request or response: %v", err)
	}
	return response, err
}

// TestLost: a request whose response is missing or wrong is sent once, and its outcome is unknown.
// This holds for new and kept connections.
func TestLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(c net.Conn){
		"closed":           func(net.Conn) {},
		"reset":            func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) },
		"no HTTP":          func(c net.Conn) { text(c, planted+" "+planted+"\r\n\r\n") },
		"wrong status":     func(c net.Conn) { text(c, "HTTP/1.1 "+planted+"\r\n\r\n") },
		"half a header":    func(c net.Conn) { text(c, "HTTP/1.1 201 Created\r\nContent-Len") },
		"half a body":      func(c net.Conn) { text(c, "HTTP/1.1 201 Created\r\nContent-Length: 20\r\n\r\n"+planted) },
		"half a chunk":     func(c net.Conn) { text(c, "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab") },
		"only information": func(c net.Conn) { text(c, strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 10)) },
		"another protocol": func(c net.Conn) {
			text(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
		},
		"large header": func(c net.Conn) {
			text(c, "HTTP/1.1 201 Created\r\nX: "+strings.Repeat("x", 1<<20)+"\r\nContent-Length: 0\r\n\r\n")
		},
		// With one byte less the client reads all of it, and can keep a connection that the host closes.
		"large body": func(c net.Conn) {
			text(c, "HTTP/1.1 201 Created\r\nContent-Length: 1048578\r\n\r\n"+strings.Repeat("x", 1<<20+2))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, func(path string, c net.Conn) bool {
				if path == "/kept" {
					text(c, fine)
					return true
				}
				lose(c)
				return false
			})
			c := client(t, upstream.Config{BaseURL: p.url, Connections: 1})
			for _, path := range []string{"/new", "/reused"} {
				if _, err := post(t.Context(), t, c, path); !errors.Is(err, acquirer.ErrUnknown) {
					t.Errorf("%s: got %v, want %v", path, err, acquirer.ErrUnknown)
				}
				if got := p.received(path); got != 1 {
					t.Errorf("%s: the host received %d requests, want 1", path, got)
				}
				if _, err := post(t.Context(), t, c, "/kept"); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestHalfClosed: a host that closes its idle connections gets each request at most once.
func TestHalfClosed(t *testing.T) {
	t.Parallel()
	p := serve(t, func(_ string, c net.Conn) bool {
		text(c, fine)
		return false
	})
	c := client(t, upstream.Config{BaseURL: p.url, Connections: 1})
	for i := range 200 {
		path := fmt.Sprintf("/%d", i)
		_, err := post(t.Context(), t, c, path)
		switch got := p.received(path); {
		case err == nil && got != 1, got > 1, err != nil && !errors.Is(err, acquirer.ErrUnknown):
			t.Fatalf("%s: got %v and %d requests at the host", path, err, got)
		}
	}
}

// TestCutWhileWriting: a host that closes the connection before the whole request has arrived may
// have acted on it.
func TestCutWhileWriting(t *testing.T) {
	t.Parallel()
	for _, read := range []int64{0, 1, 500} {
		listener := listen(t)
		var connections int
		var serving sync.WaitGroup
		serving.Go(func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				connections++
				_, _ = io.CopyN(io.Discard, c, read)
				_ = c.Close()
			}
		})
		c := client(t, upstream.Config{BaseURL: "http://" + listener.Addr().String()})
		if _, err := post(t.Context(), t, c, "/"); !errors.Is(err, acquirer.ErrUnknown) {
			t.Errorf("after %d bytes: got %v, want %v", read, err, acquirer.ErrUnknown)
		}
		_ = listener.Close()
		serving.Wait()
		if connections != 1 {
			t.Errorf("after %d bytes: got %d connections, want 1", read, connections)
		}
	}
}

// TestDeadline: the deadline bounds the wait for the response and for its body.
func TestDeadline(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]string{"no response": "", "no end": strings.TrimSuffix(fine, "k")} {
		ctx, cancel := context.WithCancel(t.Context())
		p := serve(t, func(_ string, c net.Conn) bool {
			text(c, begin)
			cancel()
			_, _ = c.Read(make([]byte, 1)) // returns when the client closes
			return false
		})
		c := client(t, upstream.Config{BaseURL: p.url})
		if _, err := post(ctx, t, c, "/"); !errors.Is(err, acquirer.ErrUnknown) {
			t.Errorf("%s: got %v, want %v", name, err, acquirer.ErrUnknown)
		}
	}
}

// TestUnavailable: a request that never had a connection has no effect.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	untrusted := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a host with an unknown certificate received a request")
	}))
	t.Cleanup(untrusted.Close)
	plain := serve(t, func(string, net.Conn) bool { return false })
	for name, url := range map[string]string{
		"refused":   gone.URL,
		"untrusted": untrusted.URL,
		"no TLS":    strings.Replace(plain.url, "http:", "https:", 1),
	} {
		c := client(t, upstream.Config{BaseURL: url})
		if _, err := post(t.Context(), t, c, "/"); !errors.Is(err, acquirer.ErrUnavailable) {
			t.Errorf("%s: got %v, want %v", name, err, acquirer.ErrUnavailable)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c := client(t, upstream.Config{BaseURL: plain.url})
	if _, err := post(ended, t, c, "/"); !errors.Is(err, acquirer.ErrUnavailable) {
		t.Errorf("ended context: got %v, want %v", err, acquirer.ErrUnavailable)
	}
}

// TestConnectionsAreBounded: a request that waits for a connection until its context ends is never
// sent.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	busy, free := make(chan struct{}), make(chan struct{})
	p := serve(t, func(string, net.Conn) bool {
		close(busy)
		<-free
		return false
	})
	c := client(t, upstream.Config{BaseURL: p.url, Connections: 1})
	var first sync.WaitGroup
	first.Go(func() { _, _ = post(t.Context(), t, c, "/first") })
	<-busy
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := post(ctx, t, c, "/second"); !errors.Is(err, acquirer.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, acquirer.ErrUnavailable)
	}
	close(free)
	first.Wait()
	if got := p.received("/second"); got != 0 {
		t.Errorf("the host received %d requests, want none", got)
	}
}

// TestSend: a complete response is returned as it is, also a redirect or one of a compressed body.
func TestSend(t *testing.T) {
	t.Parallel()
	host := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Location", "/elsewhere")
		w.Header().Set("Encodings", r.Header.Get("Accept-Encoding"))
		w.WriteHeader(http.StatusTemporaryRedirect)
		_, _ = fmt.Fprintf(w, "%s %s %s %s %s", r.Proto, r.Method, r.RequestURI, r.Header.Get("Signature"), body)
	}))
	t.Cleanup(host.Close)
	roots := host.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	c := client(t, upstream.Config{BaseURL: host.URL + "/base/", Roots: roots})
	for method, body := range map[string]string{http.MethodPost: "b", http.MethodGet: ""} {
		ctx, cancel := context.WithTimeout(t.Context(), plenty)
		defer cancel()
		got, err := c.Send(ctx, method, "/path/?q=1", http.Header{"Signature": {"s"}}, []byte(body), upstream.MaxOutcome)
		if err != nil {
			t.Fatal(err)
		}
		want := "HTTP/1.1 " + method + " /base/path/?q=1 s " + body
		if got.Status != http.StatusTemporaryRedirect || string(got.Body) != want {
			t.Errorf("got %d %q, want 307 %q", got.Status, got.Body, want)
		}
		if got := got.Header.Get("Encodings"); got != "" {
			t.Errorf("the request accepts encodings %q, want none", got)
		}
	}
	if got, want := c.Host(), strings.TrimPrefix(host.URL, "https://"); got != want {
		t.Errorf("host: got %q, want %q", got, want)
	}
}

// TestClose: no later request gets a connection of an earlier one.
func TestClose(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	host := httptest.NewUnstartedServer(http.NotFoundHandler())
	host.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	host.Start()
	t.Cleanup(host.Close)
	c := client(t, upstream.Config{BaseURL: host.URL, Connections: 1})
	for i, want := range []int64{1, 1, 2} {
		_, err := post(t.Context(), t, c, "/")
		if n := connections.Load(); err != nil || n != want {
			t.Errorf("%d: got %d connections, %v, want %d", i, n, err, want)
		}
		if i == 1 {
			c.Close()
		}
	}
}

// TestAnnouncedLength: a response takes memory as it arrives, and not as it announces.
func TestAnnouncedLength(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	const requests = 32
	p := serve(t, func(_ string, c net.Conn) bool {
		text(c, fmt.Sprintf("HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\nx", upstream.MaxList))
		return false
	})
	c := client(t, upstream.Config{BaseURL: p.url})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range requests {
		_, err := c.Send(t.Context(), http.MethodGet, "/", nil, nil, upstream.MaxList)
		if !errors.Is(err, acquirer.ErrUnknown) {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / requests; got > 200<<10 {
		t.Errorf("a request took %d bytes of memory", got)
	}
	if _, err := c.Send(t.Context(), http.MethodGet, "/", nil, nil, 0); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("a response that is too long: got %v", err)
	}
}

// TestCertificateNames: an error has no text of the host's certificate, which is not trusted.
func TestCertificateNames(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"x\x1b]0;" + planted},
		NotAfter: clock.System().Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	host := httptest.NewUnstartedServer(http.NotFoundHandler())
	host.TLS = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12,
	}
	host.StartTLS()
	t.Cleanup(host.Close)
	for name, trusted := range map[string]*x509.CertPool{"untrusted": nil, "another name": roots} {
		if trusted != nil {
			trusted.AddCert(host.Certificate())
		}
		c := client(t, upstream.Config{BaseURL: strings.Replace(host.URL, "127.0.0.1", "localhost", 1), Roots: trusted})
		_, err := post(t.Context(), t, c, "/") // it checks the error's text
		if !errors.Is(err, acquirer.ErrUnavailable) || !strings.HasSuffix(err.Error(), "certificate is not trusted") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestWrongRequests are mistakes of a connector. They are never sent.
func TestWrongRequests(t *testing.T) {
	t.Parallel()
	p := serve(t, func(_ string, c net.Conn) bool { text(c, fine); return true })
	c := client(t, upstream.Config{BaseURL: p.url})
	for _, r := range []struct{ method, path, body string }{
		{http.MethodPost, "/", ""}, // net/http could repeat it
		{http.MethodGet, "/", "b"},
		{http.MethodPost, "", "b"},
		{http.MethodPost, "@example.com/", "b"},
		{http.MethodPost, "/%zz", "b"},
		{"B A D", "/", "b"},
	} {
		_, err := c.Send(t.Context(), r.method, r.path, nil, []byte(r.body), upstream.MaxOutcome)
		if !errors.Is(err, acquirer.ErrUnavailable) {
			t.Errorf("%v: got %v, want %v", r, err, acquirer.ErrUnavailable)
		}
	}
}

// TestParseBaseURL: plain HTTP is for this machine only.
func TestParseBaseURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://api.example.com":         "https://api.example.com",
		"https://api.example.com:8443/x/": "https://api.example.com:8443/x",
		"https://api.example.com/a%2Fb//": "https://api.example.com/a%2Fb",
		"http://127.0.0.1:9000":           "http://127.0.0.1:9000",
		"http://127.9.9.9":                "http://127.9.9.9",
		"http://[::1]:80/compat":          "http://[::1]:80/compat",
		"http://[::ffff:127.0.0.1]":       "http://[::ffff:127.0.0.1]",
		"http://localhost:1":              "http://localhost:1",
		"http://api.example.com":          "",
		"http://10.0.0.1":                 "",
		"http://localhost.example.com":    "",
		"http://127.0.0.1.example.com":    "",
		"http://0.0.0.0":                  "",
		"ftp://api.example.com":           "",
		"https:api.example.com":           "",
		"https://":                        "",
		"https://:8443":                   "",
		"":                                "",
		"api.example.com":                 "",
		"https://u:secret@example.com":    "",
		"https://u:secret@%zz":            "",
		"https://example.com?x=1":         "",
		"https://example.com?":            "",
		"https://example.com#x":           "",
		"https://example.com:0":           "",
		"https://example.com:70000":       "",
		"https://exa mple.com":            "",
	} {
		got, err := upstream.ParseBaseURL(text)
		if (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("%q: got %v, %v, want %q", text, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error has the password: %v", err)
		}
		if _, refused := upstream.New(upstream.Config{BaseURL: text}); (refused == nil) != (err == nil) {
			t.Errorf("%q: a client: got %v, want %v", text, refused, err)
		}
	}
}
