package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/envoytest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// runVariable makes the test's executable run the program under test, as a process that can be
// killed.
const runVariable = "EDGE_TEST_ARGS"

func TestMain(m *testing.M) {
	if args := os.Getenv(runVariable); args != "" {
		p := NewMain()
		p.Look = look
		if err := p.Command(context.Background(), strings.Split(args, "\n")); err != nil {
			log.Fatal(err)
		}
		return
	}
	os.Exit(m.Run())
}

const (
	host = "api.example.com"
	look = 500 * time.Millisecond // includes the time for a handshake on a busy machine
)

// testbed is an edge with stand-ins for its upstreams.
type testbed struct {
	dir         string
	https, http string
	xds         string // address for Envoys
	core        *standIn
	compat      *standIn
	filter      *filter
	authority   *certtest.Authority

	again        time.Duration // between deliveries of a refused listener; 0: none in the test
	env          []string      // of the process
	certificates string        // the setting; "": the folder
	upstreams    string        // further ones, each after a comma
	routes       string        // further ones, a line each
}

// newTestbed returns a testbed with one certificate in its folder, and no process.
func newTestbed(t *testing.T) *testbed {
	t.Helper()
	dir, err := os.MkdirTemp("", "e") //nolint:usetesting // the names of sockets must not be long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	at := programtest.Host(t)
	b := &testbed{
		dir: dir, https: at + ":8443", http: at + ":8080", core: newStandIn(t, "core"), compat: newStandIn(t, "compat"),
		filter: newFilter(t, filepath.Join(dir, "mle.sock")), authority: certtest.Root(t).Intermediate(t),
	}
	b.xds = `{listen: "unix:` + b.path("x.sock") + `"}`
	if err := os.Mkdir(b.path("certs"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.install(t)
	b.configure(t, "")
	return b
}

func (b *testbed) path(name string) string { return filepath.Join(b.dir, name) }

// install writes a new certificate into the folder.
func (b *testbed) install(t *testing.T) *certtest.Issued {
	t.Helper()
	issued := b.authority.Issue(t, certtest.Hosts(host, "trust.example.com"))
	issued.Write(t, b.path("certs"), "edge")
	return issued
}

// configure writes the configuration, with further keys.
func (b *testbed) configure(t *testing.T, more string) {
	t.Helper()
	text := fmt.Sprintf(`hosts: [%s]
trust: {url: https://trust.example.com}
data: %[2]s/data
listen: {https: "%[3]s", http: "%[4]s"}
xds: %[8]s
http: unix:%[2]s/h.sock
certificates: %[9]s
extproc: {address: "unix:%[2]s/mle.sock"}
upstreams: {core: {address: "%[5]s"}, compat: {address: "%[6]s"}, gone: {address: "unix:%[2]s/gone"}%[10]s}
%[7]s
`, host, b.dir, b.https, b.http, b.core.address, b.compat.address, more, b.xds,
		cmp.Or(b.certificates, "{folder: "+b.path("certs")+", publish_ahead: 0s}"), b.upstreams)
	if !strings.Contains(more, "routes:") {
		text += routes + b.routes
	}
	certtest.Replace(t, b.path("edge.yaml"), []byte(text))
}

const routes = `routes:
  - {path: /compat/**, upstream: compat, mle: off}
  - {path: /demand/**, upstream: core, mle: on_demand}
  - {path: /gone, upstream: gone, mle: off}
  - {path: /v1/special, upstream: core, mle: optional}
  - {path: /v1/**, upstream: core}
`

// run runs the control plane in this process until the test ends or stop is called.
func (b *testbed) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ready, ended := make(chan struct{}), make(chan error, 1)
	m := &Main{
		Stdout: io.Discard, Stderr: b.log(t), Look: look, Again: cmp.Or(b.again, time.Hour), Ready: func() { close(ready) },
	}
	go func() { ended <- m.Command(ctx, []string{"--config", b.path("edge.yaml")}) }()
	select {
	case <-ready:
	case err := <-ended:
		cancel()
		t.Fatal(err)
	}
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// log returns a file that the test shows if it fails.
func (b *testbed) log(t *testing.T) io.Writer {
	t.Helper()
	f, err := os.OpenFile(b.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = f.Close()
		if text, err := os.ReadFile(b.path("log")); t.Failed() && err == nil {
			t.Logf("the control plane:\n%s", text)
		}
	})
	return f
}

// process runs the control plane in a separate process, and returns a function that kills it.
func (b *testbed) process(t *testing.T) (kill func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return programtest.Start(t, programtest.Command{
		Path: self, Env: append([]string{runVariable + "=--config\n" + b.path("edge.yaml")}, b.env...), Stderr: b.log(t),
	}).Kill
}

// envoy starts an Envoy with the bootstrap that the program prints.
func (b *testbed) envoy(t *testing.T) *envoytest.Envoy {
	t.Helper()
	return b.envoyCalled(t, "envoy-1")
}

func (b *testbed) envoyCalled(t *testing.T, id string) *envoytest.Envoy {
	t.Helper()
	return envoytest.Start(t, b.bootstrap(t, id))
}

// bootstrap writes the bootstrap that the program prints into a file.
func (b *testbed) bootstrap(t *testing.T, id string, more ...string) (file string) {
	t.Helper()
	var out bytes.Buffer
	m := &Main{Stdout: &out, Stderr: io.Discard}
	if err := m.Command(t.Context(), append([]string{
		"bootstrap", "--config", b.path("edge.yaml"), "--node", id, "--admin", "127.0.0.1:0", "--tls", b.dir,
	}, more...)); err != nil {
		t.Fatal(err)
	}
	file = b.path(id + ".yaml")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	envoytest.Validate(t, file)
	return file
}

// client returns an HTTP/1.1 client that connects to Envoy for every host name.
func (b *testbed) client() *http.Client {
	policy := &tls.Config{RootCAs: b.authority.Pool(), ServerName: host, MinVersion: tls.VersionTLS12}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			TLSClientConfig: policy,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				var d net.Dialer
				return d.DialContext(ctx, "tcp", b.https)
			},
		},
	}
}

// handshake makes a TLS handshake and returns the connection.
func (b *testbed) handshake(t *testing.T, change func(*tls.Config)) (*tls.Conn, error) {
	t.Helper()
	policy := &tls.Config{RootCAs: b.authority.Pool(), ServerName: host, MinVersion: tls.VersionTLS10}
	if change != nil {
		change(policy)
	}
	conn, err := (&tls.Dialer{Config: policy}).DialContext(t.Context(), "tcp", b.https)
	if err != nil {
		return nil, err
	}
	out := conn.(*tls.Conn)
	t.Cleanup(func() { _ = out.Close() })
	return out, nil
}

// connect returns a connection that a dialer opens, for a protocol.
func (b *testbed) connect(t *testing.T, by *net.Dialer, protocol string) *tls.Conn {
	t.Helper()
	policy := &tls.Config{
		RootCAs: b.authority.Pool(), ServerName: host, MinVersion: tls.VersionTLS12, NextProtos: []string{protocol},
	}
	conn, err := (&tls.Dialer{NetDialer: by, Config: policy}).DialContext(t.Context(), "tcp", b.https)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.(*tls.Conn)
}

// shows waits until a new handshake has a certificate.
func (b *testbed) shows(t *testing.T, e *envoytest.Envoy, want *certtest.Issued) {
	t.Helper()
	e.Wait(t, "does not show the certificate", func() bool {
		conn, err := b.handshake(t, nil)
		return err == nil && conn.ConnectionState().PeerCertificates[0].Equal(want.Leaf)
	})
}

// logged waits until the control plane has logged a message.
func (b *testbed) logged(t *testing.T, e *envoytest.Envoy, what string) {
	t.Helper()
	e.Wait(t, "was waited for in vain: "+what, func() bool { return b.countLogged(t, what) > 0 })
}

// countLogged counts the lines of the control plane's log with a message.
func (b *testbed) countLogged(t *testing.T, what string) int {
	t.Helper()
	text, err := os.ReadFile(b.path("log"))
	if err != nil {
		t.Error(err)
	}
	return strings.Count(string(text), what)
}

// standIn is an upstream that records its requests.
type standIn struct {
	address string
	got     atomic.Int64 // bytes of bodies, of unfinished ones too
	mu      sync.Mutex
	seen    []*http.Request
}

// Write counts the bytes of a body.
func (s *standIn) Write(b []byte) (int, error) {
	s.got.Add(int64(len(b)))
	return len(b), nil
}

func newStandIn(t *testing.T, name string) *standIn {
	t.Helper()
	s := &standIn{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) == "early" {
			w.Header().Set("Connection", "close") // as our services do if they have not read the body
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.Copy(s, r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, r)
		s.mu.Unlock()
		switch path.Base(r.URL.Path) {
		case "unknown":
			w.WriteHeader(http.StatusUnauthorized)
		case "created":
			w.WriteHeader(http.StatusCreated)
		case "failed":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "slow":
			late := time.NewTimer(150 * time.Millisecond)
			defer late.Stop()
			select {
			case <-late.C:
			case <-r.Context().Done(): // the request was cut short
			}
		}
		_, _ = fmt.Fprintf(w, "%s %s", name, r.URL.Path)
		more := map[string]int{"/v1/long": 200 << 10, "/v1/large": 1 << 20}[r.URL.Path]
		_, _ = io.WriteString(w, strings.Repeat("x", more))
	}))
	t.Cleanup(server.Close)
	s.address = server.Listener.Addr().String()
	return s
}

// last returns the last request, and the number of requests.
func (s *standIn) last() (*http.Request, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) == 0 {
		return nil, 0
	}
	return s.seen[len(s.seen)-1], len(s.seen)
}
