package upstream_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/upstream"
)

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// step is the server's reaction to one request that it has read; "close" ends the connection.
type step string

const end step = "close"

// far plays v1: the nth connection follows the nth list of steps, and then waits for the other side
// to close it.
type far struct {
	addr string

	mu       sync.Mutex
	requests []string // guarded by mu; the bytes of each, header and body
	taken    int      // guarded by mu; connections accepted
	closed   chan int // the numbers of connections that the client has closed
}

func newFar(t *testing.T, conns ...[]step) *far {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &far{addr: ln.Addr().String(), closed: make(chan int, 100)}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			n := f.taken
			f.taken++
			f.mu.Unlock()
			var steps []step
			if n < len(conns) {
				steps = conns[n]
			}
			wg.Go(func() { f.serve(c, n, steps) })
		}
	})
	t.Cleanup(func() { _ = ln.Close(); wg.Wait() })
	return f
}

func (f *far) serve(c net.Conn, n int, steps []step) {
	defer c.Close() //nolint:errcheck // a test's end of a connection
	var seen bytes.Buffer
	in := bufio.NewReader(io.TeeReader(c, &seen))
	for _, s := range steps {
		r, err := http.ReadRequest(in)
		if err != nil {
			f.closed <- n
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		f.mu.Lock()
		f.requests = append(f.requests, seen.String())
		f.mu.Unlock()
		seen.Reset()
		text, last := strings.CutSuffix(string(s), string(end))
		_, _ = io.WriteString(c, text)
		if last {
			return
		}
	}
	_, _ = io.Copy(io.Discard, in)
	f.closed <- n
}

func (f *far) conns() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.taken
}

func (f *far) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

func newTransport(t *testing.T, cfg upstream.Config) *upstream.Transport {
	t.Helper()
	tr := upstream.New(cfg)
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func mustRequest(t *testing.T, method, url, body string, header ...string) *http.Request {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, reader)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// do returns the status and the body.
func do(tr http.RoundTripper, r *http.Request) (int, string, error) {
	resp, err := tr.RoundTrip(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close() //nolint:errcheck // read below
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

func mustDo(t *testing.T, tr http.RoundTripper, r *http.Request, want string) {
	t.Helper()
	status, body, err := do(tr, r)
	if err != nil || fmt.Sprint(status, " ", body) != want {
		t.Fatalf("got %d %q, %v, want %q", status, body, err, want)
	}
}
