package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// patience is how long a single response may take before the run fails.
const patience = 20 * time.Second

// Response is one HTTP response. Its body is valid until the next request on its connection.
type Response struct {
	Status   int
	Replayed bool // it has the header Idempotent-Replayed: true
	Body     []byte
}

// conn is one connection. It is not safe for concurrent use.
type conn struct {
	net.Conn
	in   *bufio.Reader
	body bytes.Buffer
}

func dial(ctx context.Context, addr string) (*conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return &conn{Conn: c, in: bufio.NewReaderSize(c, 8<<10)}, nil
}

// Send sends one request to addr (host:port) over a new connection, and returns the response. It
// takes at most 20 seconds and ends with ctx.
func Send(ctx context.Context, addr string, request []byte) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := dial(ctx, addr)
	if err != nil {
		return Response{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() }) // send then fails immediately
	defer func() {
		stop()
		_ = c.Close() // the response was read, or has failed already
	}()
	return c.send(request)
}

// errClosing reports that the server closed the connection. No measured server does that.
var errClosing = errors.New("load: the server closed the connection after its response")

func (c *conn) send(request []byte) (Response, error) {
	if _, err := c.Write(request); err != nil {
		return Response{}, fmt.Errorf("load: send: %w", err)
	}
	got, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return Response{}, fmt.Errorf("load: receive: %w", err)
	}
	c.body.Reset()
	if _, err = c.body.ReadFrom(got.Body); err != nil {
		return Response{}, fmt.Errorf("load: receive: %w", err)
	}
	_ = got.Body.Close() // it was read to its end
	if got.Close {
		return Response{}, errClosing
	}
	return Response{got.StatusCode, got.Header.Get("Idempotent-Replayed") == "true", c.body.Bytes()}, nil
}
