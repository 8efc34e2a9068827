package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// Config describes how a Transport keeps its connections. Every zero value has a meaning.
type Config struct {
	// Dial makes a connection. Nil means a net.Dialer with a timeout of 5 s.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Idle is the largest number of kept connections to one host; zero means 256. IdleTime is how long
	// each is kept; zero means 90 s.
	Idle     int
	IdleTime time.Duration
	// MaxResponse bounds the bytes of one response, with its header. Zero means 1 MiB and 32 KiB: a
	// page of v1 has at most 1 MiB.
	MaxResponse int64
	// Clock measures how long a connection was idle. Nil means the system's.
	Clock clock.Clock
}

// Transport is an http.RoundTripper for plain HTTP/1.1. It returns when the whole response has
// arrived, with the body in memory. It uses no HTTP proxies, and it is safe for concurrent use. The
// response counts towards the memory of the client's request: see admission.Received. If that is in
// use, a GET gets a 429 like that of v1.
//
// Like http.Transport, it sends a request a second time if a kept connection breaks before any
// response. It does so only if nothing of the request was written, or if the request is idempotent
// by its method or an Idempotency-Key. It calls httptrace's GotConn for each attempt.
type Transport struct {
	dial        func(ctx context.Context, network, addr string) (net.Conn, error)
	maxResponse int64
	pool        *pool
}

var _ http.RoundTripper = (*Transport)(nil)

// Errors of RoundTrip, besides errors of net and of the request's context.
var (
	ErrScheme   = errors.New("upstream: not an http URL")
	ErrTooLarge = errors.New("upstream: response too large")
	ErrProtocol = errors.New("upstream: malformed response")
)

// New returns a transport that has no connections yet.
func New(cfg Config) *Transport {
	t := &Transport{dial: cfg.Dial, maxResponse: cfg.MaxResponse, pool: newPool(cfg.Idle, cfg.IdleTime, cfg.Clock)}
	if t.dial == nil {
		t.dial = (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	if t.maxResponse == 0 {
		t.maxResponse = 1<<20 + 32<<10
	}
	return t
}

// CloseIdleConnections closes the kept connections. Requests in progress continue.
func (t *Transport) CloseIdleConnections() { t.pool.closeAll() }

// RoundTrip sends r and returns its response, with any status.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL == nil || r.URL.Scheme != "http" || r.URL.Host == "" {
		closeBody(r)
		return nil, ErrScheme
	}
	if err := r.Context().Err(); err != nil {
		closeBody(r)
		return nil, fmt.Errorf("upstream: %w", err)
	}
	addr := address(r)
	kept := t.pool.take(addr)
	if kept == nil {
		return t.sendOverNew(r, addr)
	}
	resp, err := t.exchange(kept, r, addr)
	if err == nil || !mayResend(kept, r) {
		return resp, err
	}
	second := *r // a transport must not change the request
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, fmt.Errorf("upstream: send again: %w", err)
		}
		second.Body = body
	}
	return t.sendOverNew(&second, addr)
}

// sendOverNew sends r over a new connection.
func (t *Transport) sendOverNew(r *http.Request, addr string) (*http.Response, error) {
	dialed, err := t.dial(r.Context(), "tcp", addr)
	if err != nil {
		closeBody(r)
		return nil, err // a net.OpError names the address, and proves that nothing was sent
	}
	return t.exchange(newConn(dialed), r, addr)
}

// exchange sends r over c and reads the response. It leaves c in the pool or closed.
func (t *Transport) exchange(c *conn, r *http.Request, addr string) (*http.Response, error) {
	ctx := r.Context()
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: c.Conn, Reused: c.reused})
	}
	c.begin(t.maxResponse)
	stop := context.AfterFunc(ctx, c.interrupt)
	resp, err := c.exchange(r)
	if !stop() || err != nil || resp.Close || r.Close || c.in.Buffered() > 0 {
		_ = c.Close() // the response is whole, or lost anyway
	} else {
		t.pool.put(addr, c)
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // and not the error of the interrupted connection
	}
	if err != nil {
		return nil, fmt.Errorf("upstream: %w", err)
	}
	return resp, nil
}

// mayResend reports whether r, which got no response on the kept connection c, may be sent once
// more. The server may have closed c just before. That cannot happen on a connection that was made
// for the request.
func mayResend(c *conn, r *http.Request) bool {
	if c.received > 0 || r.Context().Err() != nil {
		return false
	}
	if r.Body != nil && r.Body != http.NoBody && r.GetBody == nil {
		return false
	}
	if c.sent == 0 {
		return true
	}
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return r.Header.Get("Idempotency-Key") != ""
}

// address returns the host and port of r.
func address(r *http.Request) string {
	if r.URL.Port() != "" {
		return r.URL.Host
	}
	return net.JoinHostPort(r.URL.Hostname(), "80")
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close() // it was not read
	}
}

// memoryBody is a response body in memory.
type memoryBody struct{ bytes.Reader }

func (*memoryBody) Close() error { return nil }

var _ io.ReadCloser = (*memoryBody)(nil)
