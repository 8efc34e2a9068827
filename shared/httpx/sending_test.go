package httpx_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/shared/httpx"
)

// TestSending: an error proves that nothing was sent only if no connection was opened.
func TestSending(t *testing.T) {
	t.Parallel()
	for name, two := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					panic(http.ErrAbortHandler)
				}
			}))
			server.EnableHTTP2 = two
			server.StartTLS()
			t.Cleanup(server.Close)
			transport := server.Client().Transport
			sent := func(method string) (*httpx.Sending, error) {
				s := &httpx.Sending{}
				r, err := http.NewRequestWithContext(s.Trace(t.Context()), method, server.URL, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				response, err := transport.RoundTrip(r)
				if err == nil {
					_ = response.Body.Close()
				}
				return s, err
			}
			for i := range 2 { // over a new connection, and over a kept one
				if s, err := sent(http.MethodGet); err != nil || s.NeverSent(errDial) || s.Repeated() {
					t.Errorf("GET %d: got %v, never sent %t, repeated %t", i, err, s.NeverSent(errDial), s.Repeated())
				}
			}
			if s, err := sent(http.MethodPost); err == nil || s.NeverSent(err) || s.NeverSent(errDial) {
				t.Errorf("a request that reached its server: got %v, never sent %t", err, s.NeverSent(err))
			}
			server.Close()
			if s, err := sent(http.MethodGet); err == nil || !s.NeverSent(err) {
				t.Errorf("a server that is gone: got %v, never sent %t", err, s.NeverSent(err))
			}
		})
	}
}

var errDial = &net.OpError{Op: "dial", Err: errors.New("refused")}

// TestSendingRepeated: http.Transport repeats a request with an Idempotency-Key whose kept
// connection broke.
func TestSendingRepeated(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if requests.Add(1) == 2 {
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	for i, want := range []bool{false, true} {
		var s httpx.Sending
		r, err := http.NewRequestWithContext(s.Trace(t.Context()), http.MethodPost, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Idempotency-Key", "k")
		response, err := server.Client().Transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := s.Repeated(); got != want {
			t.Errorf("request %d: repeated %t, want %t", i+1, got, want)
		}
	}
}
