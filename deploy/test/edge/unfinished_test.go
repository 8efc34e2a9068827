package edge_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// testUnfinishedBodies sends unfinished bodies from one client address, without a key. v1 refuses
// each by its head. compat-proxy finds the credentials in the body, so it bounds the bodies of an
// address. A client on another address is served meanwhile.
func testUnfinishedBodies(t *testing.T, r *deployment) {
	t.Helper()
	const small, at = 600, 50 // an address may have 512 unfinished ones of this size
	for range small / at {    // a slow machine opens only some connections at the same time
		refused := r.unfinished(t, "127.0.0.66", "/v1/transactions", at, 4<<10)
		for range at {
			if got := <-refused; got.status != http.StatusUnauthorized {
				t.Fatalf("v1: got %d %s", got.status, got.body)
			}
		}
	}
	// A longer body may take more time, and fewer of them hold the 1 MiB of an address.
	const large, size = 16, 256 << 10
	refused := r.unfinished(t, "127.0.0.66", legacyPath, large, size)
	busy := false
	for i := 0; i < large && !busy; i++ { // the responses to accepted bodies come last
		busy = strings.Contains((<-refused).body, "E00053")
	}
	if !busy {
		t.Errorf("compat-proxy took %d unfinished bodies of %d bytes of one address", large, size)
	}
	login := `{"authenticateTestRequest":{"merchantAuthentication":{"name":"nobody","transactionKey":"nokey"}}}`
	got := send(t, r.client(t, nil), http.MethodPost, "https://"+host+legacyPath, login,
		"Content-Type", "application/json")
	if got.status != http.StatusOK || !strings.Contains(got.body, "E00007") {
		t.Errorf("another client: got %d %s", got.status, got.body)
	}
}

// legacyPath takes documents of provider-a.
const legacyPath = "/compat/provider-a/xml"

// unfinished sends requests whose bodies lack the last byte of their size until the test ends, from
// a client address. It returns their responses.
func (r *deployment) unfinished(t *testing.T, from, path string, n, size int) <-chan response {
	t.Helper()
	client := r.client(t, func(tr *http.Transport) {
		onlyHTTP2(tr)
		tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
			return d.DialContext(ctx, "tcp", r.https())
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	responses := make(chan response, n)
	var ended sync.WaitGroup
	for range n {
		rest, _ := io.Pipe() // it never has data
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+host+path, struct {
			io.Reader
			io.Closer
		}{io.MultiReader(strings.NewReader(strings.Repeat("{", size-1)), rest), rest})
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = int64(size)
		req.Header.Set("Content-Type", "application/json")
		ended.Go(func() {
			got, err := client.Do(req)
			if err != nil {
				return // the test is over
			}
			text, _ := io.ReadAll(got.Body) // an incomplete one lacks the wanted code
			_ = got.Body.Close()
			responses <- response{got.StatusCode, got.Header, string(text)}
		})
	}
	t.Cleanup(func() { cancel(); ended.Wait() })
	return responses
}
