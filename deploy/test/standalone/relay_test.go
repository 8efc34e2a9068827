package standalone_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// fate is the treatment of a call from a proxy to v1.
type fate int

const (
	passes     fate = iota // the call and its response pass
	cutBefore              // the connection breaks before v1 gets the call
	cutAmid                // the connection breaks at both ends while v1 handles it
	cutAfter               // v1 acts, and the connection breaks before the response
	diesBefore             // the proxy dies before v1 gets the call
	diesAfter              // v1 acts, and the proxy dies before the response
	truncates              // v1 acts, and the connection breaks amid the response
	late                   // the connection breaks, and v1 gets the call some time later
	swaps                  // the response is that of another call at the same time
	repeats                // the response arrives twice on its connection
)

// relay forwards the calls of a proxy to v1.
type relay struct {
	base string
	v1   string
	http *http.Client
	fate func(*http.Request) fate
	die  func() // ends the proxy, and returns after its end

	broken atomic.Int64   // calls that did not pass
	late   sync.WaitGroup // calls that v1 has not got yet
	offers chan offer     // of responses to swap
}

// offer is a response, and the place of the response that it is swapped for.
type offer struct {
	own   relayed
	other chan relayed
}

const (
	lateness     = 700 * time.Millisecond // recovery looks for the outcome earlier
	swapPatience = 100 * time.Millisecond
)

// startRelay starts a relay. Set its fate and die before the first request.
func startRelay(tb testing.TB, v1Base string) *relay {
	tb.Helper()
	r := &relay{v1: v1Base, http: patientClient(tb), offers: make(chan offer)}
	server := httptest.NewServer(r)
	tb.Cleanup(server.Close)
	r.base = server.URL
	return r
}

// ServeHTTP implements http.Handler. A call to v1 is never cancelled because the proxy has
// disconnected.
func (r *relay) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		cut(w)
		return
	}
	f := r.fate(in)
	if f != passes {
		r.broken.Add(1)
	}
	ctx := context.WithoutCancel(in.Context())
	switch f {
	case cutBefore:
		cut(w)
		return
	case diesBefore:
		r.die()
		cut(w)
		return
	case cutAmid:
		soon, cancel := context.WithTimeout(ctx, 300*time.Microsecond)
		defer cancel()
		ctx = soon
	case late:
		r.late.Go(func() {
			<-time.After(lateness)
			_, _ = r.forward(ctx, in, body) // its response is lost
		})
		cut(w)
		return
	case passes, cutAfter, diesAfter, truncates, swaps, repeats:
	}
	response, err := r.forward(ctx, in, body)
	if f == swaps && err == nil {
		response = r.swap(response)
	}
	switch {
	case f == diesAfter:
		r.die()
		cut(w)
	case f == cutAfter || f == cutAmid || err != nil:
		cut(w)
	case f == repeats:
		repeat(w, response)
	default:
		r.respond(w, f, response)
	}
}

// respond writes a response, or half of it.
func (*relay) respond(w http.ResponseWriter, f fate, response relayed) {
	maps.Copy(w.Header(), response.head)
	w.Header().Set("Content-Length", strconv.Itoa(len(response.body)))
	w.WriteHeader(response.status)
	if f == truncates {
		_, _ = w.Write(response.body[:len(response.body)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(response.body) // the proxy may have disconnected
}

// swap returns the response of another call that swaps at the same time. Without one it returns
// the call's own.
func (r *relay) swap(own relayed) relayed {
	mine := offer{own, make(chan relayed, 1)}
	select {
	case r.offers <- mine:
		return <-mine.other
	case o := <-r.offers:
		o.other <- own
		return o.own
	case <-time.After(swapPatience):
		return own
	}
}

// nth applies a fate to the nth call that acts, counted from 1. All others pass.
func nth(n int32, f fate) func(*http.Request) fate {
	var met atomic.Int32
	return func(r *http.Request) fate {
		if acts(r) && met.Add(1) == n {
			return f
		}
		return passes
	}
}

// acts reports whether a call to v1 makes or changes something. A reservation does not. Where a
// period of the deduplication begins, a request closes the earlier period's keys by reservations,
// so their number depends on the time of day.
func acts(r *http.Request) bool {
	return r.Method != http.MethodGet && r.URL.Path != "/v1/idempotency_keys"
}

// wantBroken checks that a call did not pass since the last check. Otherwise the test shows
// nothing.
func (r *relay) wantBroken(t *testing.T, what string) {
	t.Helper()
	if r.broken.Swap(0) == 0 {
		t.Errorf("%s: no call was broken", what)
	}
}

// relayed is a complete response of v1.
type relayed struct {
	status int
	head   http.Header
	body   []byte
}

func (r *relay) forward(ctx context.Context, in *http.Request, body []byte) (relayed, error) {
	out, err := http.NewRequestWithContext(ctx, in.Method, r.v1+in.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return relayed{}, err
	}
	out.Header, out.Host = in.Header.Clone(), in.Host // a signature can cover the host
	response, err := r.http.Do(out)
	if err != nil {
		return relayed{}, err
	}
	data, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // read to its end
	return relayed{response.StatusCode, response.Header, data}, err
}

// repeat writes a response two times in one write, and closes the connection. So the next request
// on the connection can meet the second one.
func repeat(w http.ResponseWriter, response relayed) {
	conn := hijack(w)
	if conn == nil {
		return
	}
	defer func() { _ = conn.Close() }() // after the last byte
	var one bytes.Buffer
	head := response.head.Clone()
	head.Del("Content-Length")
	_ = (&http.Response{
		StatusCode: response.status, ProtoMajor: 1, ProtoMinor: 1, Header: head,
		ContentLength: int64(len(response.body)), Body: io.NopCloser(bytes.NewReader(response.body)),
	}).Write(&one) // a buffer takes all
	_, _ = conn.Write(bytes.Repeat(one.Bytes(), 2)) // the client may have disconnected
	ended := time.AfterFunc(swapPatience, func() { _ = conn.Close() })
	defer ended.Stop()
	_, _ = io.Copy(io.Discard, conn) // until the client closes, or the next request has come
}

// hijack returns the connection of a call, or nil if it is broken already.
func hijack(w http.ResponseWriter) net.Conn {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		panic("not a hijackable connection")
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		return nil
	}
	return conn
}

// cut resets the connection without a response.
func cut(w http.ResponseWriter) {
	if conn := hijack(w); conn != nil {
		programtest.Reset(conn)
	}
}
