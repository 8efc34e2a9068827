package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// maxInformed is how many 1xx responses may precede the final one.
const maxInformed = 5

// conn is one connection. It belongs to one request at a time.
type conn struct {
	net.Conn

	raw    syscall.RawConn    // nil when there is none to look at
	look   func(uintptr) bool // lookNow, made once
	in     *bufio.Reader
	out    *bufio.Writer
	reused bool // a response came over it before
	idle   time.Time
	peeked error // the result of the last look at it

	// Of the present request:
	sent, received, left int64
}

func newConn(c net.Conn) *conn {
	made := &conn{Conn: c}
	if s, ok := c.(syscall.Conn); ok {
		made.raw, _ = s.SyscallConn() // without it a broken connection is noticed later
	}
	made.look = made.lookNow
	made.in, made.out = bufio.NewReader(reader{made}), bufio.NewWriter(writer{made})
	return made
}

// begin readies c for a request whose response has at most that many bytes.
func (c *conn) begin(maxAnswer int64) { c.sent, c.received, c.left = 0, 0, maxAnswer }

// cut ends what waits for c. It may be called from any goroutine.
func (c *conn) cut() { _ = c.SetDeadline(time.Unix(1, 0)) } // a connection that takes no deadline is gone

// exchange writes the request, whose body it closes, and reads the response to its end.
func (c *conn) exchange(r *http.Request) (*http.Response, error) {
	if err := r.Write(c.out); err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	if err := c.out.Flush(); err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	answer, err := c.header(r)
	if err != nil {
		return nil, err
	}
	if answer.ContentLength > c.left+int64(c.in.Buffered()) {
		return nil, ErrTooLarge // without waiting for a body that is never read
	}
	text, err := readBody(answer)
	if err != nil {
		return nil, fmt.Errorf("read response: %w", err)
	}
	body := &whole{}
	body.Reset(text)
	answer.Body = body
	return answer, nil
}

// header reads the header of the final response.
func (c *conn) header(r *http.Request) (*http.Response, error) {
	for range maxInformed + 1 {
		answer, err := http.ReadResponse(c.in, r)
		if err != nil {
			return nil, fmt.Errorf("read response: %w", err)
		}
		if answer.StatusCode == http.StatusSwitchingProtocols {
			break
		}
		if answer.StatusCode >= http.StatusOK {
			return answer, nil
		}
	}
	return nil, ErrProtocol
}

// readBody reads the body to its end, trailers included.
func readBody(answer *http.Response) ([]byte, error) {
	defer answer.Body.Close() //nolint:errcheck // it was read to its end, or the connection will be closed
	var b bytes.Buffer
	if n := answer.ContentLength; n > 0 {
		b.Grow(int(min(n, 64<<10)) + bytes.MinRead) // so that its end is seen without growing
	}
	if _, err := b.ReadFrom(answer.Body); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// reader and writer count the bytes, and reader ends a response that is too long.
type (
	reader struct{ *conn }
	writer struct{ *conn }
)

func (r reader) Read(b []byte) (int, error) {
	if r.left <= 0 {
		return 0, ErrTooLarge
	}
	n, err := r.Conn.Read(b[:min(int64(len(b)), r.left)])
	r.received += int64(n)
	r.left -= int64(n)
	return n, err
}

func (w writer) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	w.sent += int64(n)
	return n, err
}

var errSpoken = errors.New("upstream: data on an idle connection")

// alive reports whether the other side has kept the connection open and quiet, by the bytes and
// events that have arrived.
func (c *conn) alive() bool {
	if c.raw == nil {
		return true
	}
	c.peeked = nil
	if err := c.raw.Read(c.look); err != nil {
		return false
	}
	return c.peeked == nil
}

// lookNow reads without waiting. Anything to read ends the connection: its end, or bytes that
// belong to no request.
func (c *conn) lookNow(fd uintptr) bool {
	var b [1]byte
	switch n, err := readNow(fd, b[:]); {
	case n > 0:
		c.peeked = errSpoken
	case err == nil:
		c.peeked = io.EOF
	case !errors.Is(err, errNothing):
		c.peeked = err
	}
	return true
}
