package upstream

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

const (
	// MaxList is the greatest body of a list, in bytes.
	MaxList = 1 << 20
	// MaxOutcome is the greatest body of any other response, in bytes.
	MaxOutcome = 64 << 10

	maxHeader = 64 << 10 // bytes of a response's header
	// connectTimeout bounds a TCP connection, and again a TLS handshake.
	connectTimeout = 5 * time.Second
	// idleTimeout is shorter than the time after which providers close idle connections. A request
	// that meets such a close has an unknown outcome.
	idleTimeout = 10 * time.Second
	// mostConnections is the default of Config.Connections.
	mostConnections = 64
)

// Config is the provider's host.
type Config struct {
	BaseURL string // see ParseBaseURL
	// Roots are the trusted authorities; nil means the system's.
	Roots *x509.CertPool
	// Connections is the greatest number of connections, busy and idle; 0 means 64. Further requests
	// wait.
	Connections int
}

// Client sends requests to one host over HTTP/1.1. It follows no redirect, and ignores the proxies
// of the environment. It is safe for concurrent use.
type Client struct {
	base      *url.URL
	transport *http.Transport
}

// Response is a complete response of the host. Any status is possible.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// New returns a client of a host. Its error names a wrong setting.
func New(cfg Config) (*Client, error) {
	base, err := ParseBaseURL(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("upstream: base URL: want %w", err)
	}
	if cfg.Connections <= 0 {
		cfg.Connections = mostConnections
	}
	var http1 http.Protocols
	http1.SetHTTP1(true) // one request owns its connection, so that a lost one cannot disturb another
	return &Client{base: base, transport: &http.Transport{
		Proxy:                  nil, // not from the environment: card numbers go only to the provider
		DialContext:            (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:        tlspolicy.Client(cfg.Roots),
		TLSHandshakeTimeout:    connectTimeout,
		Protocols:              &http1,
		MaxConnsPerHost:        cfg.Connections,
		MaxIdleConnsPerHost:    cfg.Connections,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // the limit then holds for the bytes that are kept
	}}, nil
}

// ParseBaseURL returns the base URL of a provider's API, without a slash at the end. It has a
// scheme, a host and optionally a path. Card numbers are sent to it, so plain HTTP is for this
// machine only. An error begins after the word want, and does not repeat the URL, because that may
// hold a password.
func ParseBaseURL(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	switch {
	case err != nil || base.Hostname() == "" || base.Scheme != "https" && base.Scheme != "http":
		return nil, errors.New("an https URL")
	case base.User != nil || base.RawQuery != "" || base.ForceQuery || base.Fragment != "":
		return nil, errors.New("a URL without user, query and fragment")
	case base.Scheme == "http" && !loopback(base.Hostname()):
		return nil, errors.New("an https URL; http is for a loopback address only")
	}
	if port := base.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, errors.New("a valid port")
		}
	}
	base.Path, base.RawPath = strings.TrimRight(base.Path, "/"), strings.TrimRight(base.RawPath, "/")
	return base, nil
}

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// Host returns the Host field of the requests, for signatures.
func (c *Client) Host() string { return c.base.Host }

// Close closes the idle connections. Call it also after a response that does not fit its request:
// the connection may have more responses to earlier requests.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Send sends a request and returns the complete response. The path begins with a slash and may
// have a query. It is appended to the path of the base URL. The deadline of ctx bounds all of it.
//
// A request with a body is sent at most once. A request without one must be a GET, and can reach
// the host twice if a kept connection breaks.
//
// The error is acquirer.ErrUnavailable if no byte of the request was sent and none will be. Any
// other failure is acquirer.ErrUnknown: also a response that is malformed, cut off or larger than
// most bytes. No error has any text of the request or the response.
func (c *Client) Send(
	ctx context.Context, method, path string, header http.Header, body []byte, most int64,
) (Response, error) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	r, err := c.request(ctx, method, path, header, body)
	if err != nil {
		return Response{}, err
	}
	response, err := c.transport.RoundTrip(r)
	switch {
	case err == nil:
	case !connected.Load():
		// A transport writes only to a connection that it took. After an error it takes none.
		return Response{}, fmt.Errorf("upstream: connect: %w: %s", acquirer.ErrUnavailable, unconnected(err))
	default:
		return Response{}, lost(ctx, "send", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusSwitchingProtocols { // the body is the connection, and has no deadline
		return Response{}, fmt.Errorf("upstream: %w: response of another protocol", acquirer.ErrUnknown)
	}
	var content bytes.Buffer
	_, err = content.ReadFrom(io.LimitReader(response.Body, most+1)) // it grows as the bytes arrive
	switch {
	case err != nil:
		return Response{}, lost(ctx, "read the response", err)
	case int64(content.Len()) > most:
		return Response{}, fmt.Errorf("upstream: %w: response of more than %d bytes", acquirer.ErrUnknown, most)
	}
	return Response{Status: response.StatusCode, Header: response.Header, Body: content.Bytes()}, nil
}

// request returns the request. The transport repeats a request on its own only if it has no body,
// or if GetBody returns the body again. So a body has no GetBody.
func (c *Client) request(
	ctx context.Context, method, path string, header http.Header, body []byte,
) (*http.Request, error) {
	if !strings.HasPrefix(path, "/") || (len(body) == 0) != (method == http.MethodGet) {
		return nil, fmt.Errorf("upstream: %w: want a GET without a body or another method with one, and a path",
			acquirer.ErrUnavailable)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("upstream: %w: invalid path", acquirer.ErrUnavailable)
	}
	if len(body) > 0 {
		r.Body, r.GetBody = io.NopCloser(bytes.NewReader(body)), nil
		r.ContentLength = int64(len(body))
	}
	if header != nil {
		r.Header = header.Clone()
	}
	return r, nil
}

// unconnected returns the class of an error before a connection. The error's text can have text of
// the host's certificate.
func unconnected(err error) string {
	var (
		timeout     net.Error
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.As(err, &name):
		return "the name was not found"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &certificate):
		return "the certificate is not trusted"
	case errors.As(err, &record), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		return "no TLS connection"
	}
	return "connection failed"
}

// lost returns the error of a request that may have reached the host. It has the class of the cause
// and not its text, which can hold bytes of the response.
func lost(ctx context.Context, step string, err error) error {
	var timeout net.Error
	class := "connection broken"
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		class = "canceled"
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		class = "timeout"
	}
	return fmt.Errorf("upstream: %s: %w: %s", step, acquirer.ErrUnknown, class)
}
