package main

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
)

// TestLegacyBodyLimit checks that the limit of bodies is exact on a legacy route too.
func TestLegacyBodyLimit(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.configure(t, "limits: {max_body: 1024}")
	b.run(t)
	b.envoy(t).Listeners(t)
	for size, want := range map[int]int{1024: 200, 1025: 413} {
		got := b.ask(t, b.client(nil), "POST", "https://"+host+"/compat/x", strings.Repeat("a", size))
		if got.status != want || want == 413 && !strings.Contains(got.body, "body_too_large") {
			t.Errorf("%d bytes: got %d %s, want %d", size, got.status, got.body, want)
		}
	}
}

// TestUnfinishedBodyStaysAtEnvoy checks that a request of a legacy route reaches its upstream when
// its body is complete, not before.
func TestUnfinishedBodyStaysAtEnvoy(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.run(t)
	b.envoy(t).Listeners(t)
	conn, err := b.handshake(t, func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} })
	if err != nil {
		t.Fatal(err)
	}
	head := "POST /compat/unfinished HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 4\r\nConnection: close\r\n\r\nab"
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	for range 3 { // Envoy has one worker, so these come after the other
		if got := b.ask(t, b.client(nil), "POST", "https://"+host+"/compat/whole", "a"); got.status != 200 {
			t.Errorf("got %d %s", got.status, got.body)
		}
	}
	if begun := b.compat.begun.Load(); begun != 3 {
		t.Errorf("the upstream got %d requests, want the whole ones", begun)
	}
	if _, err := io.WriteString(conn, "cd"); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 200 ") {
		t.Errorf("got %s, %v", text, err)
	}
}

// TestResets checks that Envoy ends an HTTP/2 connection on which a client resets its requests.
func TestResets(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.run(t)
	b.envoy(t).Listeners(t)
	var dials atomic.Int64
	client := b.client(nil)
	transport := client.Transport.(*http.Transport)
	transport.ForceAttemptHTTP2 = true
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return dial(ctx, network, address)
	}
	for range 400 {
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
		t.Error("400 resets are allowed on one connection")
	}
}
