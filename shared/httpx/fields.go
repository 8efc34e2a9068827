package httpx

import "net/http"

// mostFields is the largest number of header fields of a request. 20 kB of short fields need 0.4 MB
// of memory. The edge accepts 100, and programs in front add a few.
const mostFields = 128

// boundFields refuses a request with too many header fields. A refused connection stays open until
// the client has read the response, so the request must not keep its fields until then.
func boundFields(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fieldsOf(r.Header) > mostFields {
			if r.ProtoMajor < 2 {
				w.Header()["Connection"] = closing
			}
			exposeToPages(w, r)
			Refuse(w, http.StatusRequestHeaderFieldsTooLarge) // as the edge does
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
