package httpx

import "net/http"

// closing is the value of the Connection field of a response that ends its connection.
var closing = []string{"close"}

// CloseUnread makes the connection of HTTP/1.1 close after the response to a request with a body.
// net/http otherwise reads the rest of the body before it sends the response, for up to the
// ReadTimeout. It reports whether it has set the Connection field. A handler that reads the whole
// body may remove the field then.
func CloseUnread(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	if r.ProtoMajor >= 2 || r.Body == nil || r.ContentLength == 0 || h["Connection"] != nil {
		return false
	}
	h["Connection"] = closing
	return true
}
