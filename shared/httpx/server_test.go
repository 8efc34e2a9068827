package httpx_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

func mustGet(t *testing.T, c *http.Client, url string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func mustStart(t *testing.T, s *httpx.Server) string {
	t.Helper()
	addr, err := s.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.WithoutCancel(t.Context())) })
	return addr.String()
}

var hello = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) })

func TestServerStartsAndStopsRepeatedly(t *testing.T) {
	t.Parallel()
	s := httpx.NewServer(httpx.Options{Handler: hello})
	const own = "127.0.0.77:0" // no other program takes the port when it is free again
	started, err := s.Start(own)
	if err != nil {
		t.Fatal(err)
	}
	first := started.String()
	again, err := s.Start(own)
	if err != nil || again.String() != first {
		t.Errorf("second start: got %v, %v, want %s", again, err, first)
	}
	client := &http.Client{Transport: &http.Transport{}}
	resp := mustGet(t, client, "http://"+first)
	_ = resp.Body.Close()
	for range 2 {
		if err := s.Stop(t.Context()); err != nil {
			t.Errorf("stop: got %v, want nil", err)
		}
	}
	if _, err := s.Start("127.0.0.1:0"); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("start after stop: got %v, want %v", err, http.ErrServerClosed)
	}
	var d net.Dialer
	if conn, err := d.DialContext(t.Context(), "tcp", first); err == nil {
		_ = conn.Close()
		t.Error("still listening after stop")
	}
}

func TestServerStopWithoutStart(t *testing.T) {
	t.Parallel()
	if err := httpx.NewServer(httpx.Options{Handler: hello}).Stop(t.Context()); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}

func TestServerStartFailsOnATakenAddress(t *testing.T) {
	t.Parallel()
	taken := mustStart(t, httpx.NewServer(httpx.Options{Handler: hello}))
	if _, err := httpx.NewServer(httpx.Options{Handler: hello}).Start(taken); err == nil {
		t.Error("got nil, want an error")
	}
}

func TestServerStopDrains(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	var book logbook
	s := httpx.NewServer(httpx.Options{
		Log: book.logger(),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(entered)
			<-leave
			_, _ = io.WriteString(w, "done")
		}),
	})
	url := "http://" + mustStart(t, s)
	var wg sync.WaitGroup
	wg.Go(func() {
		resp := mustGet(t, &http.Client{Transport: &http.Transport{}}, url)
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || string(body) != "done" {
			t.Errorf("got %q, %v, want done", body, err)
		}
	})
	<-entered
	for range 2 { // the second waits for the first
		wg.Go(func() {
			if err := s.Stop(t.Context()); err != nil {
				t.Errorf("stop: got %v, want nil", err)
			}
		})
	}
	close(leave)
	wg.Wait()
	if e := one(t, book.events(t, "server stopped")); e["drained"] != true {
		t.Errorf("got %v, want drained", e)
	}
}

func TestServerStopCutsWhatIsLeft(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	s := httpx.NewServer(httpx.Options{
		Drain: time.Millisecond,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(entered)
			<-r.Context().Done()
		}),
	})
	url := "http://" + mustStart(t, s)
	var wg sync.WaitGroup
	wg.Go(func() {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if resp, err := (&http.Client{Transport: &http.Transport{}}).Do(req); err == nil {
			_ = resp.Body.Close()
			t.Error("got a response, want a closed connection")
		}
	})
	<-entered
	for range 2 {
		if err := s.Stop(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stop: got %v, want %v", err, context.DeadlineExceeded)
		}
	}
	wg.Wait()
}

func TestServerSpeaksHTTP2OverTLS(t *testing.T) {
	t.Parallel()
	fixture := httptest.NewUnstartedServer(nil) // for its certificate and a client that trusts it
	fixture.StartTLS()
	defer fixture.Close()
	cert := fixture.TLS.Certificates[0]
	var book logbook
	s := httpx.NewServer(httpx.Options{
		Handler: hello, Log: book.logger(),
		TLS: tlspolicy.Server(func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &cert, nil }),
	})
	addr := mustStart(t, s)
	transport := fixture.Client().Transport.(*http.Transport).Clone()
	transport.ForceAttemptHTTP2 = true
	resp := mustGet(t, &http.Client{Transport: transport}, "https://"+addr)
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if got, want := string(body), "HTTP/2.0"; got != want {
		t.Errorf("protocol: got %s, want %s", got, want)
	}

	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "GET /"+planted+" HTTP/1.1\r\n\r\n")
	_, _ = io.ReadAll(conn) // ends when the server has given up on the handshake
	_ = conn.Close()
	transport.CloseIdleConnections()
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("stop: got %v, want nil", err)
	}
	if e := one(t, book.events(t, "http server")); e["kind"] != "tls_handshake" ||
		strings.Contains(book.String(), planted) {
		t.Errorf("got %v, want the kind tls_handshake and nothing of the client's", e)
	}
}

func TestServerLogsNoPanicValue(t *testing.T) {
	t.Parallel()
	var book logbook
	s := httpx.NewServer(httpx.Options{
		Log:     book.logger(),
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { deepPanic(planted) }),
	})
	addr := mustStart(t, s)
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	_, _ = io.ReadAll(conn)
	_ = conn.Close()
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("stop: got %v, want nil", err)
	}
	if e := one(t, book.events(t, "http server")); e["kind"] != "panic" || e["level"] != "ERROR" ||
		strings.Contains(book.String(), planted) {
		t.Errorf("got %s, want the kind panic without the value", book.String())
	}
}

func TestServerRefusesLargeHeaders(t *testing.T) {
	t.Parallel()
	url := "http://" + mustStart(t, httpx.NewServer(httpx.Options{Handler: hello}))
	for size, want := range map[int]int{1 << 10: http.StatusOK, 32 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Large", strings.Repeat("a", size))
		resp, err := (&http.Client{Transport: &http.Transport{}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := resp.StatusCode; got != want {
			t.Errorf("%d bytes: got %d, want %d", size, got, want)
		}
	}
}

// TestServerRefusesManyHeaderFields: 20 kB of short fields would need much memory, so they are
// refused before all else.
func TestServerRefusesManyHeaderFields(t *testing.T) {
	t.Parallel()
	reached := make(chan int, 1)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // the test reads to the end
		reached <- len(r.Header)
	})
	at := mustStart(t, httpx.NewServer(httpx.Options{Handler: handler}))
	for n, want := range map[int]int{128: 200, 129: 431, 2000: 431} {
		var fields strings.Builder
		for i := range n {
			fmt.Fprintf(&fields, "a%d: 1\r\n", i%100) // some have several values
		}
		head := "POST /v1/tokens HTTP/1.1\r\nHost: x\r\n" + fields.String() + "\r\n"
		resp, _ := exchange(t, at, head) //nolint:bodyclose // exchange does
		if resp.StatusCode != want {
			t.Errorf("%d fields: got %d, want %d", n, resp.StatusCode, want)
		}
		if want == 200 {
			<-reached
			continue
		}
		if !resp.Close || resp.Header.Get("Request-Id") == "" || resp.Header.Get("Content-Type") != "application/json" ||
			resp.Header.Get(httpx.AllowOriginField) != httpx.AllowOrigin {
			t.Errorf("%d fields: got the fields %v, closes %t", n, resp.Header, resp.Close)
		}
	}
	select {
	case <-reached:
		t.Error("a refused request reached the handler")
	default:
	}
}

// TestClosingRequestKeepsNoFields: the server reads the rest of a body for some time before it
// closes the connection. The request has no fields meanwhile.
func TestClosingRequestKeepsNoFields(t *testing.T) {
	t.Parallel()
	for closes, kept := range map[string]bool{"": true, "close": false} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		r.Header.Set("X-Large", "1")
		httpx.BoundFields(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if closes != "" {
				w.Header().Set("Connection", closes)
			}
		})).ServeHTTP(httptest.NewRecorder(), r)
		if got := r.Header != nil; got != kept {
			t.Errorf("closes %q: keeps the fields: got %t, want %t", closes, got, kept)
		}
	}
}

func TestServerGivesOptionsStarToTheHandler(t *testing.T) {
	t.Parallel()
	s := httpx.NewServer(httpx.Options{Handler: httpx.RequestID(http.NotFoundHandler())})
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", mustStart(t, s))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.Header.Get("Request-Id") == "" {
		t.Error("got a response without Request-Id")
	}
}
