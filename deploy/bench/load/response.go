package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// ErrMalformed is returned, wrapped, for a response that is not HTTP/1.1 as this package reads it.
var ErrMalformed = errors.New("load: malformed response")

// maxBody bounds one body, so that a broken length cannot take the machine's memory.
const maxBody = 8 << 20

// Response is one HTTP response. Its body is valid until the next Read into it.
type Response struct {
	Status   int
	Replayed bool // it has the header Idempotent-Replayed: true
	Close    bool // the server closes the connection after it
	Body     []byte
}

// Read reads the next response from r. An error that wraps ErrMalformed describes its fault. Any
// other error is from r.
func (a *Response) Read(r *bufio.Reader) error {
	a.Replayed, a.Close, a.Body = false, false, a.Body[:0]
	line, err := readLine(r)
	if err != nil {
		return err
	}
	if a.Status, err = status(line); err != nil {
		return err
	}
	length, chunked := -1, false
	for {
		if line, err = readLine(r); err != nil {
			return err
		}
		if len(line) == 0 {
			break
		}
		if err := a.header(line, &length, &chunked); err != nil {
			return err
		}
	}
	switch {
	case chunked:
		return a.readChunks(r)
	case length < 0:
		return fmt.Errorf("%w: neither length nor chunks", ErrMalformed)
	default:
		return a.readBody(r, length)
	}
}

// header reads the values of a header line that this package needs.
func (a *Response) header(line []byte, length *int, chunked *bool) error {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return fmt.Errorf("%w: header line without colon", ErrMalformed)
	}
	value = bytes.TrimSpace(value)
	switch len(name) { // cheaper than comparing each name with each of ours
	case len("Content-Length"):
		if bytes.EqualFold(name, []byte("Content-Length")) {
			n, err := strconv.Atoi(string(value))
			if err != nil || n < 0 || n > maxBody {
				return fmt.Errorf("%w: content length %q", ErrMalformed, value)
			}
			*length = n
		}
	case len("Transfer-Encoding"):
		if bytes.EqualFold(name, []byte("Transfer-Encoding")) {
			*chunked = bytes.EqualFold(value, []byte("chunked"))
		}
	case len("Idempotent-Replayed"):
		if bytes.EqualFold(name, []byte("Idempotent-Replayed")) {
			a.Replayed = string(value) == "true"
		}
	case len("Connection"):
		if bytes.EqualFold(name, []byte("Connection")) {
			a.Close = bytes.EqualFold(value, []byte("close"))
		}
	}
	return nil
}

func (a *Response) readBody(r *bufio.Reader, n int) error {
	start := len(a.Body)
	if start+n > maxBody {
		return fmt.Errorf("%w: body longer than %d", ErrMalformed, maxBody)
	}
	if cap(a.Body) < start+n {
		grown := make([]byte, start, 2*(start+n))
		copy(grown, a.Body)
		a.Body = grown
	}
	a.Body = a.Body[:start+n]
	_, err := io.ReadFull(r, a.Body[start:])
	return cut(err)
}

func (a *Response) readChunks(r *bufio.Reader) error {
	for {
		line, err := readLine(r)
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(line), 16, 31)
		if err != nil {
			return fmt.Errorf("%w: chunk size %q", ErrMalformed, line)
		}
		if err := a.readBody(r, int(n)); err != nil {
			return err
		}
		if line, err = readLine(r); err != nil {
			return err
		}
		if len(line) != 0 {
			return fmt.Errorf("%w: chunk not followed by a line end", ErrMalformed)
		}
		if n == 0 {
			return nil
		}
	}
}

// readLine returns the next line without its end, valid until the next read.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, fmt.Errorf("%w: line too long", ErrMalformed)
	}
	if err != nil {
		return nil, cut(err)
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// cut makes an end inside a response an unexpected one.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// status reads "HTTP/1.1 201 Created".
func status(line []byte) (int, error) {
	const prefix = "HTTP/1.1 "
	if len(line) < len(prefix)+3 || string(line[:len(prefix)]) != prefix {
		return 0, fmt.Errorf("%w: status line %q", ErrMalformed, line)
	}
	n := 0
	for _, c := range line[len(prefix) : len(prefix)+3] {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%w: status line %q", ErrMalformed, line)
		}
		n = 10*n + int(c-'0')
	}
	return n, nil
}
