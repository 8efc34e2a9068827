package httpx

import (
	"net/http"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// strict adds our HSTS to every response of next, and replaces any that next or a server behind it
// wrote. NewServer puts it around every handler that is served over TLS, and around no other.
//
// In HTTP/1.1, conn adds it to the responses of net/http itself. In HTTP/2 it is missing on a 400
// to a field of HTTP/1.1 and on a 431 to a too long head. net/http sends these by private handlers
// and offers no hook. HPACK forbids changing them on the connection. A single field above the limit
// of the head gets no response: the connection ends. Plain HTTP to the port of TLS gets a 400
// without it, as RFC 6797, 7.2 demands.
func strict(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := strictWriter{w}
		next.ServeHTTP(s, r)
		s.stamp() // if the handler wrote nothing, net/http now writes the head
	})
}

// strictWriter writes the header with the head, so that no handler can have taken it out. Optional
// interfaces are reached by http.ResponseController.
type strictWriter struct{ http.ResponseWriter }

func (w strictWriter) stamp() { w.Header().Set(tlspolicy.HSTSHeader, tlspolicy.HSTS) }

// Unwrap is for http.ResponseController.
func (w strictWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w strictWriter) WriteHeader(status int) {
	w.stamp()
	w.ResponseWriter.WriteHeader(status)
}

func (w strictWriter) Write(b []byte) (int, error) {
	w.stamp()
	return w.ResponseWriter.Write(b)
}

// FlushError sends the head too.
func (w strictWriter) FlushError() error {
	w.stamp()
	return http.NewResponseController(w.ResponseWriter).Flush()
}
