package httpx

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Errors of ReadBody.
var (
	ErrTooLarge = errors.New("body too large")
	ErrEncoding = errors.New("content encoding not supported")
)

// ReadBody reads the whole body, of at most limit bytes. For a longer one it returns ErrTooLarge,
// and the connection closes after the response. For a Content-Encoding other than identity, which
// could hide a larger body, it returns ErrEncoding. For a connection that broke it returns the
// wrapped error.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	for _, v := range r.Header["Content-Encoding"] {
		if v != "" && !strings.EqualFold(v, "identity") {
			return nil, ErrEncoding
		}
	}
	if r.Body == nil || r.ContentLength == 0 {
		return nil, nil
	}
	if r.ContentLength > limit {
		w.Header().Set("Connection", "close")
		return nil, ErrTooLarge
	}
	size := int64(512)
	if r.ContentLength > 0 {
		size = r.ContentLength
	}
	// One byte more than is due lets the end be seen without growing, and one byte too many be
	// noticed.
	body, err := readAll(io.LimitReader(r.Body, limit+1), min(size, limit)+1)
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	if int64(len(body)) > limit {
		w.Header().Set("Connection", "close")
		return nil, ErrTooLarge
	}
	return body, nil
}

// readAll is io.ReadAll with a first size.
func readAll(r io.Reader, size int64) ([]byte, error) {
	b := make([]byte, 0, size)
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
}
