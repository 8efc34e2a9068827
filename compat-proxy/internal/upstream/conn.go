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

// maxInformational is the largest number of 1xx responses before the final one.
const maxInformational = 5

// conn is one connection. It belongs to one request at a time.
type conn struct {
	net.Conn

	raw      syscall.RawConn    // nil if the connection has no descriptor
	readFunc func(uintptr) bool // readWithoutWaiting, made once
	in       *bufio.Reader
	out      *bufio.Writer
	reused   bool // it has carried a response before
	idle     time.Time
	checkErr error // the result of the last check of the connection

	// Of the present request:
	sent, received, remaining int64
}

func newConn(c net.Conn) *conn {
	made := &conn{Conn: c}
	if s, ok := c.(syscall.Conn); ok {
		made.raw, _ = s.SyscallConn() // without it a broken connection is noticed later
	}
	made.readFunc = made.readWithoutWaiting
	made.in, made.out = bufio.NewReader(reader{made}), bufio.NewWriter(writer{made})
	return made
}

// begin prepares c for a request. maxResponse bounds the bytes of its response.
func (c *conn) begin(maxResponse int64) { c.sent, c.received, c.remaining = 0, 0, maxResponse }

// interrupt ends all reads and writes of c. It may be called from any goroutine.
func (c *conn) interrupt() { _ = c.SetDeadline(time.Unix(1, 0)) } // this fails only for a closed connection

// exchange writes the request, whose body it closes, and reads the response to its end.
func (c *conn) exchange(r *http.Request) (*http.Response, error) {
	if err := r.Write(c.out); err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	if err := c.out.Flush(); err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	resp, err := c.header(r)
	if err != nil {
		return nil, err
	}
	if resp.ContentLength > c.remaining+int64(c.in.Buffered()) {
		return nil, ErrTooLarge // the body is not read, so do not wait for it
	}
	if busy := received(r, resp, resp.ContentLength); busy != nil {
		return busy, nil // it closes the connection
	}
	text, err := readBody(resp)
	if err != nil {
		return nil, fmt.Errorf("read response: %w", err)
	}
	if busy := received(r, resp, int64(len(text))); busy != nil { // its length was unknown
		return busy, nil
	}
	body := &memoryBody{}
	body.Reset(text)
	resp.Body = body
	return resp, nil
}

// header reads the header of the final response.
func (c *conn) header(r *http.Request) (*http.Response, error) {
	for range maxInformational + 1 {
		resp, err := http.ReadResponse(c.in, r)
		if err != nil {
			return nil, fmt.Errorf("read response: %w", err)
		}
		if resp.StatusCode == http.StatusSwitchingProtocols {
			break
		}
		if resp.StatusCode >= http.StatusOK {
			return resp, nil
		}
	}
	return nil, ErrProtocol
}

// readBody reads the body to its end, trailers included.
func readBody(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close() //nolint:errcheck // it was read to its end, or the connection will be closed
	var b bytes.Buffer
	if n := resp.ContentLength; n > 0 {
		b.Grow(int(min(n, 64<<10)) + bytes.MinRead) // so that its end is seen without growing
	}
	if _, err := b.ReadFrom(resp.Body); err != nil {
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
	if r.remaining <= 0 {
		return 0, ErrTooLarge
	}
	n, err := r.Conn.Read(b[:min(int64(len(b)), r.remaining)])
	r.received += int64(n)
	r.remaining -= int64(n)
	return n, err
}

func (w writer) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	w.sent += int64(n)
	return n, err
}

var errUnexpectedData = errors.New("upstream: the server sent data on an idle connection")

// alive reports whether the server has kept the connection open and sent nothing unexpected on it.
// It sees only bytes and events that have arrived.
func (c *conn) alive() bool {
	if c.raw == nil {
		return true
	}
	c.checkErr = nil
	if err := c.raw.Read(c.readFunc); err != nil {
		return false
	}
	return c.checkErr == nil
}

// readWithoutWaiting reads without waiting. Anything to read ends the connection: its end, or bytes
// that belong to no request.
func (c *conn) readWithoutWaiting(fd uintptr) bool {
	var b [1]byte
	switch n, err := readNow(fd, b[:]); {
	case n > 0:
		c.checkErr = errUnexpectedData
	case err == nil:
		c.checkErr = io.EOF
	case !errors.Is(err, errNothing):
		c.checkErr = err
	}
	return true
}
