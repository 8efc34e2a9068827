package httpx

import (
	"bufio"
	"context"
	"net"
	"net/http"
)

// recorder is a ResponseWriter that records the status and the bytes that were written.
// http.ResponseController reaches optional interfaces. The optional interfaces that write are
// implemented here so that no write is missed.
type recorder struct {
	http.ResponseWriter
	status int // 0 until the header is written
	bytes  int64

	client context.Context //nolint:containedctx // ends when the client goes away; nil if nothing is logged
	gone   bool            // the client was gone when the header was written
}

// note records the final status.
func (w *recorder) note(status int) {
	w.status = status
	w.gone = w.client != nil && ClientGone(w.client)
}

// Unwrap is for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader records the first final status. A status of 1xx, except 101, is not final.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && (status >= http.StatusOK || status == http.StatusSwitchingProtocols) {
		w.note(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.note(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// FlushError sends the header if nothing did before.
func (w *recorder) FlushError() error {
	if w.status == 0 {
		w.note(http.StatusOK)
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack takes over the connection. No response can be written after it.
func (w *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil && w.status == 0 {
		w.note(http.StatusSwitchingProtocols)
	}
	return conn, rw, err
}
