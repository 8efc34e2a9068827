package httphop

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// clientBody is the body of a request that streams to core. It keeps the error with which the
// client's side of it failed: the transport reports that failure as its own.
type clientBody struct {
	io.ReadCloser

	mu  sync.Mutex
	err error // guarded by mu; nil unless a read failed
}

// Read implements io.Reader.
func (b *clientBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, http.ErrBodyReadAfterClose) {
		b.mu.Lock()
		b.err = err
		b.mu.Unlock()
	}
	return n, err
}

// failure returns the error with which the client's side failed, nil if it did not. A nil body
// never fails.
func (b *clientBody) failure() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
