package load_test

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

func TestReadResponse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wire string
		want load.Response
	}{
		"length": {
			"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhello",
			load.Response{Status: 201, Body: []byte("hello")},
		},
		"no body": {"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", load.Response{Status: 200}},
		"replayed": {
			"HTTP/1.1 201 Created\r\nIdempotent-Replayed: true\r\nContent-Length: 2\r\n\r\n{}",
			load.Response{Status: 201, Replayed: true, Body: []byte("{}")},
		},
		"not replayed": {
			"HTTP/1.1 201 Created\r\nIdempotent-Replayed: false\r\nContent-Length: 2\r\n\r\n{}",
			load.Response{Status: 201, Body: []byte("{}")},
		},
		"chunks": {
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA\r\n, 10 bytes\r\n0\r\n\r\n",
			load.Response{Status: 200, Body: []byte("hello, 10 bytes")},
		},
		"closing": {
			"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
			load.Response{Status: 503, Close: true},
		},
	} {
		for how, split := range map[string]func(io.Reader) io.Reader{
			"at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader,
			"in halves": iotest.HalfReader,
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				// Two responses on one connection: the first must end where the second begins.
				r := bufio.NewReader(split(strings.NewReader(c.wire + c.wire)))
				var got load.Response
				for range 2 {
					if err := got.Read(r); err != nil {
						t.Fatal(err)
					}
					if got.Status != c.want.Status || got.Replayed != c.want.Replayed || got.Close != c.want.Close ||
						string(got.Body) != string(c.want.Body) {
						t.Errorf("got %+v, want %+v", got, c.want)
					}
				}
			})
		}
	}
}

func TestReadRefusesAnInvalidResponse(t *testing.T) {
	t.Parallel()
	for name, wire := range map[string]string{
		"other protocol":     "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
		"no number":          "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n",
		"short status line":  "HTTP/1.1 2\r\n\r\n",
		"no colon":           "HTTP/1.1 200 OK\r\nContent-Length 0\r\n\r\n",
		"no length":          "HTTP/1.1 200 OK\r\n\r\n",
		"negative length":    "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"enormous length":    "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
		"chunk size no hex":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
		"enormous chunk":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n",
		"chunk without end":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
		"line without limit": "HTTP/1.1 200 " + strings.Repeat("x", 8<<10) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a load.Response
			if err := a.Read(bufio.NewReader(strings.NewReader(wire))); !errors.Is(err, load.ErrMalformed) {
				t.Errorf("got %v, want %v", err, load.ErrMalformed)
			}
		})
	}
}

func TestReadReportsATruncatedResponse(t *testing.T) {
	t.Parallel()
	const whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
	for n := range len(whole) {
		var a load.Response
		if err := a.Read(bufio.NewReader(strings.NewReader(whole[:n]))); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after %d bytes: got %v, want %v", n, err, io.ErrUnexpectedEOF)
		}
	}
}
