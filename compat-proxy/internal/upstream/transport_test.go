package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/upstream"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestResponses: a response of any form is read as a whole. The connection then serves the next
// request, if the response allows it.
func TestResponses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		method, response, want string
		conns                  int // that two requests take
	}{
		"Length":    {"GET", ok, "200 ok", 1},
		"Empty":     {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "200 ", 1},
		"NoContent": {"DELETE", "HTTP/1.1 204 No Content\r\n\r\n", "204 ", 1},
		"Redirect": {"GET", "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: " +
			"0\r\n\r\n", "307 ", 1},
		"Head": {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "200 ", 1},
		"Chunked": {
			"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n",
			"200 ok", 1,
		},
		"Trailers": {"GET", "HTTP/1.1 200 OK\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: " +
			"1\r\n\r\n", "200 ok", 1},
		"Informed": {
			"GET", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + ok, "200 ok",
			1,
		},
		"Close":         {"GET", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", "200 ok", 2},
		"OldVersion":    {"GET", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "200 ok", 2},
		"UntilTheEnd":   {"GET", "HTTP/1.1 200 OK\r\n\r\nok" + string(end), "200 ok", 2},
		"MoreThanAsked": {"GET", ok + "HTTP/1.1 200 OK\r\n\r\n", "200 ok", 2},
		"Long": {
			"GET", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("a", 100000),
			"200 " + strings.Repeat("a", 100000), 1,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFar(t, []step{step(tt.response), step(tt.response)}, []step{step(tt.response)})
			tr := newTransport(t, upstream.Config{})
			for range 2 {
				mustDo(t, tr, mustRequest(t, tt.method, "http://"+f.addr+"/", ""), tt.want)
			}
			if got, want := f.conns(), tt.conns; got != want {
				t.Errorf("connections: got %d, want %d", got, want)
			}
		})
	}
}

// TestNoResponse: without exactly one complete response there is an error, and the request is not
// repeated on a new connection.
func TestNoResponse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		response string
		want     error
	}{
		"Closed":      {"", io.ErrUnexpectedEOF},
		"HalfAHeader": {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", io.ErrUnexpectedEOF},
		"HalfABody":   {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", io.ErrUnexpectedEOF},
		"HalfAChunk":  {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf", io.ErrUnexpectedEOF},
		"NoLastChunk": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", io.ErrUnexpectedEOF},
		"OtherProtocol": {
			"HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n",
			upstream.ErrProtocol,
		},
		"OnlyInformation": {strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 6) + ok, upstream.ErrProtocol},
		"LongHeader":      {"HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 1100), upstream.ErrTooLarge},
		"LongBody": {
			"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + strings.Repeat("a", 2000),
			upstream.ErrTooLarge,
		},
		"LongBodyToCome": {"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n", upstream.ErrTooLarge},
		"EndlessBody":    {"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("a", 2000), upstream.ErrTooLarge},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFar(t, []step{step(tt.response) + end}, []step{ok})
			tr := newTransport(t, upstream.Config{MaxResponse: 1000})
			_, _, err := do(tr, mustRequest(t, "GET", "http://"+f.addr+"/", ""))
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if got, want := len(f.seen()), 1; got != want {
				t.Errorf("requests: got %d, want %d", got, want)
			}
		})
	}
}

// TestKeptConnectionBreaks: the server closes a kept connection when it gets the second request. A
// request that may be repeated is repeated once.
func TestKeptConnectionBreaks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		method, body string
		header       []string
		half         string // of the response, before it breaks
		again        bool
	}{
		"Read":              {method: "GET", again: true},
		"Key":               {method: "POST", body: "body", header: []string{"Idempotency-Key", "k"}, again: true},
		"NoKey":             {method: "POST", body: "body"},
		"DeleteWithoutAKey": {method: "DELETE"},
		"HalfAResponse":     {method: "POST", body: "body", header: []string{"Idempotency-Key", "k"}, half: "HTTP/1.1 200"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFar(t, []step{ok, step(tt.half) + end}, []step{ok})
			tr := newTransport(t, upstream.Config{})
			mustDo(t, tr, mustRequest(t, "GET", "http://"+f.addr+"/", ""), "200 ok")
			r := mustRequest(t, tt.method, "http://"+f.addr+"/", tt.body, tt.header...)
			conns := 0
			r = r.WithContext(httptrace.WithClientTrace(r.Context(),
				&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { conns++ }}))
			status, _, err := do(tr, r)
			if got := err == nil && status == http.StatusOK; got != tt.again {
				t.Fatalf("got %d, %v, want a response: %t", status, err, tt.again)
			}
			seen := f.seen()[1:]
			if got, want := len(seen), map[bool]int{true: 2, false: 1}[tt.again]; got != want || conns != want {
				t.Errorf("sent %d times over %d connections, want %d", got, conns, want)
			}
			for _, s := range seen {
				if s != seen[0] || !strings.HasSuffix(s, "\r\n\r\n"+tt.body) {
					t.Errorf("sent %q, want the same each time, with its body", s)
				}
			}
		})
	}
}

// TestBodyThatCanNotBeReadAgain: a request whose body cannot be read again is not repeated, even
// with an idempotency key.
func TestBodyThatCanNotBeReadAgain(t *testing.T) {
	t.Parallel()
	f := newFar(t, []step{ok, end}, []step{ok})
	tr := newTransport(t, upstream.Config{})
	mustDo(t, tr, mustRequest(t, "GET", "http://"+f.addr+"/", ""), "200 ok")
	r := mustRequest(t, "POST", "http://"+f.addr+"/", "body", "Idempotency-Key", "k")
	r.GetBody = nil
	if _, _, err := do(tr, r); err == nil || f.conns() != 1 {
		t.Errorf("got %v over %d connections, want no response over one", err, f.conns())
	}
}

// TestContext: a waiting caller returns when the context ends, with its error, and the connection
// is not used again.
func TestContext(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		response step // without its end
		with     func(context.Context) (context.Context, context.CancelFunc)
		want     error
	}{
		"DeadlineBeforeTheHeader": {"", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 20*time.Millisecond)
		}, context.DeadlineExceeded},
		"DeadlineInTheBody": {
			"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nha",
			func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, 20*time.Millisecond)
			}, context.DeadlineExceeded,
		},
		"Canceled": {"", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(20*time.Millisecond, cancel)
			return ctx, cancel
		}, context.Canceled},
		"CanceledBefore": {"", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		}, context.Canceled},
	}
	for name, tt := range tests {
		for _, kept := range []bool{false, true} {
			t.Run(fmt.Sprint(name, kept), func(t *testing.T) {
				t.Parallel()
				f := newFar(t, []step{ok, tt.response}, []step{tt.response, ok}, []step{ok})
				tr := newTransport(t, upstream.Config{})
				if kept {
					mustDo(t, tr, mustRequest(t, "GET", "http://"+f.addr+"/", ""), "200 ok")
				} else {
					f = newFar(t, []step{tt.response}, []step{ok})
				}
				r := mustRequest(t, "GET", "http://"+f.addr+"/", "")
				ctx, cancel := tt.with(r.Context())
				defer cancel()
				if _, _, err := do(tr, r.WithContext(ctx)); !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
				if got, want := len(f.seen()), 2; got > want {
					t.Errorf("requests: got %d, want at most %d", got, want)
				}
			})
		}
	}
}

// TestContextThatHasEnded: nothing is sent, not even on a kept connection.
func TestContextThatHasEnded(t *testing.T) {
	t.Parallel()
	f := newFar(t, []step{ok, ok})
	tr := newTransport(t, upstream.Config{})
	mustDo(t, tr, mustRequest(t, "GET", "http://"+f.addr+"/", ""), "200 ok")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := mustRequest(t, "POST", "http://"+f.addr+"/", "").WithContext(ctx)
	read := false
	body := &tracked{Reader: readerFunc(func([]byte) (int, error) { read = true; return 0, io.EOF })}
	r.Body, r.ContentLength = body, -1
	if _, _, err := do(tr, r); !errors.Is(err, context.Canceled) || read || !body.closed {
		t.Errorf("got %v, body read %t, closed %t, want it closed unread", err, read, body.closed)
	}
}

// TestRefused: a request that cannot be sent returns the reason, proves that nothing was sent, and
// closes the body.
func TestRefused(t *testing.T) {
	t.Parallel()
	dial := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: io.EOF}
	}
	tr := newTransport(t, upstream.Config{Dial: dial})
	for url, want := range map[string]error{
		"https://a/": upstream.ErrScheme, "http:///": upstream.ErrScheme,
		"http://a/": io.EOF,
	} {
		body := &tracked{Reader: strings.NewReader("body")}
		r := mustRequest(t, "POST", "http://a/", "")
		u, err := r.URL.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		r.URL, r.Body, r.ContentLength = u, body, 4
		_, _, err = do(tr, r)
		var op *net.OpError
		dialed := !errors.As(err, &op) || op.Op != "dial"
		if !errors.Is(err, want) || want == io.EOF && dialed || !body.closed { //nolint:errorlint // the table's own
			t.Errorf("%s: got %v, body closed %t, want %v", url, err, body.closed, want)
		}
	}
}

type tracked struct {
	io.Reader

	closed bool
}

func (b *tracked) Close() error { b.closed = true; return nil }

// TestSameBytes: net/http's own transport sends the same.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	f := newFar(t, []step{ok, ok, ok}, []step{ok, ok, ok})
	std := &http.Transport{DisableCompression: true}
	t.Cleanup(std.CloseIdleConnections)
	for _, tr := range []http.RoundTripper{newTransport(t, upstream.Config{}), std} {
		mustDo(t, tr, mustRequest(t, "POST", "http://"+f.addr+"/v1/a?b=c%20d", `{"a":1}`, "Content-Type", "application/json",
			"Idempotency-Key", "k"), "200 ok")
		mustDo(t, tr, mustRequest(t, "GET", "http://"+f.addr, "", "Authorization", "Bearer x"), "200 ok")
		r := mustRequest(t, "POST", "http://"+f.addr+"/", "")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader("of unknown length")), -1
		mustDo(t, tr, r, "200 ok")
	}
	got := f.seen()
	if len(got) != 6 || !slices.Equal(got[:3], got[3:]) {
		t.Errorf("got %q, want the first half again", got)
	}
}

// TestManyAtOnce: every request gets its own response, although the server sometimes closes a
// connection.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	var count atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if count.Add(1)%7 == 0 {
			w.Header().Set("Connection", "close")
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	tr := newTransport(t, upstream.Config{Idle: 4})
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 40 {
				ctx, cancel := context.WithTimeout(t.Context(), programtest.Patience)
				want := strings.Repeat(fmt.Sprintf("%d/%d ", i, j), 1+i*j)
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader(want))
				if err != nil {
					t.Error(err)
				}
				if _, got, err := do(tr, r); err != nil || got != want {
					t.Errorf("got %.40q, %v, want %.40q", got, err, want)
				}
				cancel()
			}
		})
	}
	wg.Wait()
}
