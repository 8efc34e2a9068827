package standalone_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// fate is what becomes of a call on its way from a proxy to v1.
type fate int

const (
	passes     fate = iota // it is answered
	cutBefore              // the connection breaks before v1 has it
	cutAmid                // the connection breaks at both ends while v1 is at it
	cutAfter               // v1 acts, and the connection breaks before the answer is there
	diesBefore             // the proxy dies before v1 has it
	diesAfter              // v1 acts, and the proxy dies before the answer is there
)

// relay stands between a proxy and v1.
type relay struct {
	base string
	v1   string
	http *http.Client
	fate func(*http.Request) fate
	die  func() // ends the proxy, and returns when it is gone
}

// startRelay starts one. Its fate and die are set before anything is sent.
func startRelay(tb testing.TB, v1Base string) *relay {
	tb.Helper()
	r := &relay{v1: v1Base, http: patientClient(tb)}
	server := httptest.NewServer(r)
	tb.Cleanup(server.Close)
	r.base = server.URL
	return r
}

// ServeHTTP implements http.Handler. What v1 was sent is never taken back because the proxy went away.
func (r *relay) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		cut(w)
		return
	}
	f := r.fate(in)
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
	case passes, cutAfter, diesAfter:
	}
	answer, err := r.forward(ctx, in, body)
	switch {
	case f == diesAfter:
		r.die()
		cut(w)
	case f == cutAfter || f == cutAmid || err != nil:
		cut(w)
	default:
		maps.Copy(w.Header(), answer.head)
		w.WriteHeader(answer.status)
		_, _ = w.Write(answer.body) // a proxy that went away is none of the relay's troubles
	}
}

// relayed is an answer of v1, whole.
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
	out.Header = in.Header.Clone()
	answer, err := r.http.Do(out)
	if err != nil {
		return relayed{}, err
	}
	data, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close() // read to its end
	return relayed{answer.StatusCode, answer.Header, data}, err
}

// cut breaks the connection: a reset, with nothing said.
func cut(w http.ResponseWriter) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		panic("not a connection of its own")
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		return // it is broken already
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
