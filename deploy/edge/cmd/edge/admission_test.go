package main

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/shared/envoytest"
)

// TestLegacyBodyLimit checks that the limit of bodies is exact on a legacy route too.
func TestLegacyBodyLimit(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.configure(t, "limits: {max_body: 1024}")
	b.run(t)
	b.envoy(t).Listeners(t)
	for size, want := range map[int]int{1024: 200, 1025: 413} {
		got := b.send(t, b.client(), "POST", "https://"+host+"/compat/x", strings.Repeat("a", size))
		if got.status != want || want == 413 && !strings.Contains(got.body, "body_too_large") {
			t.Errorf("%d bytes: got %d %s, want %d", size, got.status, got.body, want)
		}
	}
}

// TestEarlyResponses checks that a client gets the response to a request whose body it has not
// finished, from a service or from the edge.
func TestEarlyResponses(t *testing.T) {
	t.Parallel()
	b := served(t)
	for path, want := range map[string]string{
		"/compat/early": "HTTP/1.1 401 ", "/v1/early": "HTTP/1.1 401 ", "/none": "HTTP/1.1 404 ",
		"/v1/trust": "HTTP/1.1 405 ",
	} {
		conn, err := b.handshake(t, func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} })
		if err != nil {
			t.Fatal(err)
		}
		head := "POST " + path + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 4\r\n\r\nab"
		if _, err := io.WriteString(conn, head); err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("%s: got %s, %v, want %s and the end of the connection", path, text, err, want)
		}
	}
}

// TestUnfinishedBodiesOfDocuments checks that a client gets the response of the edge program before
// the end of its body. Otherwise Envoy would hold requests of clients without a key.
func TestUnfinishedBodiesOfDocuments(t *testing.T) {
	t.Parallel()
	b := served(t)
	client := b.http2()
	for method, want := range map[string]int{http.MethodGet: 200, http.MethodPost: 405} {
		for _, length := range []int64{52, -1} {
			rest, _ := io.Pipe() // it never has data
			r, err := http.NewRequestWithContext(t.Context(), method, "https://trust.example.com/calendar.ics", rest)
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength = length
			got, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = got.Body.Close() // the status suffices
			if got.StatusCode != want {
				t.Errorf("%s with length %d: got %d, want %d", method, length, got.StatusCode, want)
			}
		}
	}
}

// TestPortsOfEarlyResponses checks that requests with unfinished bodies do not use up Envoy's local
// ports. A service refuses such a request early, and Envoy closes the connection first. TIME_WAIT
// would keep its port for a minute.
func TestPortsOfEarlyResponses(t *testing.T) {
	t.Parallel()
	b := served(t)
	for _, upstream := range []struct{ path, address string }{
		{"/compat/early", b.compat.address}, {"/v1/early", b.core.address},
	} {
		client := b.http2()
		for range 32 {
			rest, _ := io.Pipe() // it never has data
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+host+upstream.path, rest)
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength = 52
			got, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = got.Body.Close() // the status suffices
			if got.StatusCode != http.StatusUnauthorized {
				t.Fatalf("%s: got %d, want 401", upstream.path, got.StatusCode)
			}
		}
		if n := timeWait(t, upstream.address); n > 1 {
			t.Errorf("%s: %d of 32 requests left a port in TIME_WAIT", upstream.path, n)
		}
	}
}

// timeWait returns how many ports of clients of an IPv4 address are in TIME_WAIT. It needs Linux.
func timeWait(t *testing.T, address string) int {
	t.Helper()
	at := netip.MustParseAddrPort(address)
	ip := at.Addr().As4()
	remote := fmt.Sprintf("%08X:%04X", binary.LittleEndian.Uint32(ip[:]), at.Port())
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(table)) {
		// sl local_address rem_address st …
		if f := strings.Fields(line); len(f) > 3 && f[2] == remote && f[3] == "06" {
			n++
		}
	}
	return n
}

// TestUnfinishedBodies checks that Envoy does not keep the unfinished bodies of a client without a
// key. The services get the bodies as they arrive, and admit their clients.
func TestUnfinishedBodies(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.run(t)
	e := b.envoy(t)
	e.Listeners(t)
	const bodies, size = 256, 256 << 10
	for path, upstream := range map[string]*standIn{"/compat/unfinished": b.compat, "/v1/unfinished": b.core} {
		before := allocated(t, e)
		stop := b.unfinished(t, path, bodies, size)
		e.Wait(t, "keeps bodies", func() bool { return upstream.got.Load() == bodies*(size-1) })
		if grown := allocated(t, e) - before; grown > bodies*size/2 {
			t.Errorf("%s: Envoy's heap has %d bytes more for %d unfinished bodies of %d bytes", path, grown, bodies, size)
		}
		if got := b.send(t, b.client(), "POST", "https://"+host+path, "a"); got.status != 200 {
			t.Errorf("%s: another client: got %d %s", path, got.status, got.body)
		}
		stop()
	}
}

// unfinished sends requests over HTTP/2 whose bodies lack their last byte until stop.
func (b *testbed) unfinished(t *testing.T, path string, n, size int) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	client := b.http2()
	for range n {
		rest, _ := io.Pipe() // it never has data
		body := struct {
			io.Reader
			io.Closer
		}{io.MultiReader(strings.NewReader(strings.Repeat("a", size-1)), rest), rest}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+host+path, body)
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = int64(size)
		ended.Go(func() {
			if got, err := client.Do(r); err == nil {
				t.Errorf("%s: got %d before the end of the body", path, got.StatusCode)
				_ = got.Body.Close() // the status suffices
			}
		})
	}
	stop = func() { cancel(); ended.Wait() }
	t.Cleanup(stop)
	return stop
}

// allocated returns the size of Envoy's heap in bytes.
func allocated(t *testing.T, e *envoytest.Envoy) int {
	t.Helper()
	var memory struct {
		Allocated int `json:"allocated,string"`
	}
	if err := json.Unmarshal([]byte(e.Get(t, "/memory")), &memory); err != nil {
		t.Fatal(err)
	}
	return memory.Allocated
}

// TestResets checks that Envoy ends an HTTP/2 connection on which a client resets its requests.
func TestResets(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.run(t)
	b.envoy(t).Listeners(t)
	var dials atomic.Int64
	client := b.client()
	transport := client.Transport.(*http.Transport)
	onlyHTTP2(transport)
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return dial(ctx, network, address)
	}
	const most = 800 // on a busy machine many responses come before their reset
	for n := 0; n < most && dials.Load() < 2; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		sent := func(httptrace.WroteRequestInfo) { cancel() }
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: sent})
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+"/compat/slow", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := client.Do(r); err == nil {
			_ = got.Body.Close() // the response came before the reset
		}
		cancel()
	}
	if dials.Load() < 2 {
		t.Errorf("%d resets are allowed on one connection", most)
	}
}
