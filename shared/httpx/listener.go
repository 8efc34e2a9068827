package httpx

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// handshakeTime is how long a client may take for the TLS handshake.
const handshakeTime = 5 * time.Second

// listener counts connections, and returns connections on which the responses of net/http itself
// have the form of ours. With a policy, it returns a connection after its TLS handshake, because
// only a *tls.Conn can have HTTP/2.
type listener struct {
	net.Listener
	policy *tls.Config // nil for plain HTTP
	conns  *connections
	log    *slog.Logger

	accepted chan accepted // after their handshake
	done     chan struct{}
	close    sync.Once
}

// accepted is a result of Accept.
type accepted struct {
	conn net.Conn
	err  error
}

// newListener returns a listener of the connections of l. Close ends it.
func newListener(l net.Listener, policy *tls.Config, conns *connections, log *slog.Logger) *listener {
	out := &listener{
		Listener: l, policy: policy, conns: conns, log: log, accepted: make(chan accepted), done: make(chan struct{}),
	}
	if policy != nil {
		go out.run()
	}
	return out
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	if l.policy == nil {
		c, err := l.next()
		if err != nil {
			return nil, err
		}
		return &conn{c, false}, nil
	}
	select {
	case a := <-l.accepted:
		return a.conn, a.err
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It ends handshakes.
func (l *listener) Close() error {
	l.close.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// next returns the next connection of a site that may have it.
func (l *listener) next() (*countedConn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if counted := l.conns.count(c); counted != nil {
			return counted, nil
		}
		_ = c.Close() // nothing was sent
	}
}

// run begins the handshakes of all connections.
func (l *listener) run() {
	for {
		c, err := l.next()
		if err == nil {
			go l.handshake(c)
			continue
		}
		select {
		case l.accepted <- accepted{err: err}: // net/http then waits if there are too many open files
		case <-l.done:
			return
		}
	}
}

// handshake makes the TLS connection over c.
func (l *listener) handshake(c *countedConn) {
	secure := tls.Server(c, l.policy)
	keep := false
	defer func() {
		if v := recover(); v != nil {
			l.log.LogAttrs(context.Background(), slog.LevelError, "http server", slog.String("kind", "panic"))
		}
		if !keep {
			_ = secure.Close() // it is of no use
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTime)
	defer cancel()
	if err := secure.HandshakeContext(ctx); err != nil {
		l.refuse(err)
		return
	}
	var out net.Conn = secure
	if secure.ConnectionState().NegotiatedProtocol != "h2" {
		out = &secureConn{conn{secure, true}, secure}
	} else if !l.conns.weigh(c, weightHTTP2) {
		return
	}
	select {
	case l.accepted <- accepted{conn: out}:
		keep = true
	case <-l.done:
	}
}

// refuse ends a connection whose handshake failed. It responds to plain HTTP.
func (l *listener) refuse(err error) {
	var first tls.RecordHeaderError
	if errors.As(err, &first) && first.Conn != nil {
		e := refusalOf(http.StatusBadRequest)
		e.Message = v1.MessagePlainHTTP
		_, _ = first.Conn.Write(refusalResponse(e, false)) // the client may be gone
	}
	// Scanners make these all day.
	l.log.LogAttrs(context.Background(), slog.LevelDebug, "http server", slog.String("kind", "tls_handshake"))
}

// conn is a connection with HTTP/1.1.
type conn struct {
	net.Conn
	secure bool // with TLS
}

// secureConn is a conn with TLS.
type secureConn struct {
	conn

	tls *tls.Conn
}

// ConnectionState is for net/http.
func (c *secureConn) ConnectionState() tls.ConnectionState { return c.tls.ConnectionState() }

// Write replaces a response of net/http itself by a v1 error.
func (c *conn) Write(b []byte) (int, error) {
	status := ownStatus(b)
	if status == 0 {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(refusalResponse(refusalOf(status), c.secure)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// CloseWrite ends the sending direction. net/http does so before it closes a connection on which
// the client is still sending: the client can then read the response.
func (c *conn) CloseWrite() error { return closeWrite(c.Conn) }

// closeWrite ends the sending direction of a connection that has one.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// mostOwn is longer than each response of net/http itself.
const mostOwn = 512

// ownResponse matches the whole responses that net/http writes without a handler. A response of a
// handler has a Date, and no handler of ours sends an empty 417.
var ownResponse = regexp.MustCompile(
	`^HTTP/1\.[01] (?:` +
		`([45]\d\d) [^\r\n]*\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n[^\r\n]*|` +
		`(417) [^\r\n]*\r\n(?:(?:Connection|Content-Length|Date): [^\r\n]*\r\n)*\r\n)$`)

// ownStatus returns the status of a response of net/http itself, 0 for other bytes.
func ownStatus(b []byte) int {
	const digit = len("HTTP/1.1 ") // the first one of the status
	if len(b) <= digit || len(b) > mostOwn || !bytes.HasPrefix(b, []byte("HTTP/1.")) || b[digit] < '4' {
		return 0 // most responses
	}
	match := ownResponse.FindSubmatch(b)
	if match == nil {
		return 0
	}
	status, _ := strconv.Atoi(string(match[1]) + string(match[2])) // one of them is empty
	return status
}

// refusalResponse returns a whole response of HTTP/1.1 with an error. The path of the request is
// unknown and can be one of PageRoutes, so web pages can read the response.
func refusalResponse(e v1.Error, secure bool) []byte {
	requestID := id.Random(id.Request)
	body := refusalBody(e, requestID)
	hsts := ""
	if secure {
		hsts = tlspolicy.HSTSHeader + ": " + tlspolicy.HSTS + "\r\n"
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"+
		v1.VersionField+": "+v1.Version+"\r\n"+AllowOriginField+": "+AllowOrigin+"\r\n"+
		ExposeHeadersField+": "+ExposeHeaders+"\r\nRequest-Id: %s\r\n%s\r\n%s",
		e.Status, http.StatusText(e.Status), len(body), requestID, hsts, body)
}
