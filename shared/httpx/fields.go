package httpx

import (
	"io"
	"net/http"

	"github.com/causeway-pay/causeway/shared/id"
)

// mostFields is the largest number of header fields of a request. 20 kB of short fields need 0.4 MB
// of memory. The edge accepts 100, and programs in front add a few.
const mostFields = 128

// boundFields refuses a request with too many header fields. A refused connection stays open until
// the client has read the response, so the request must not keep its fields until then.
func boundFields(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fieldsOf(r.Header) > mostFields {
			refuseFields(w, r)
		} else {
			next.ServeHTTP(w, r)
		}
		if w.Header().Get("Connection") != "" { // it closes
			r.Header = nil
		}
	})
}

// fieldsOf returns the number of header fields.
func fieldsOf(h http.Header) int {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	return n
}

// refuseFields responds 431, as the edge does.
func refuseFields(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if r.ProtoMajor < 2 {
		h["Connection"] = closing
	}
	requestID := id.Random(id.Request)
	h.Set("Request-Id", requestID)
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusRequestHeaderFieldsTooLarge)
	_, _ = io.WriteString(w, `{"error":{"type":"invalid_request_error","code":"headers_too_large",`+
		`"message":"The header fields of the request are too large. Send fewer or shorter ones.",`+
		`"status":431,"request_id":"`+requestID+`"}}`)
}
