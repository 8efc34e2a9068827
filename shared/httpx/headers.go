package httpx

import "net/http"

// SecurityHeaders sets the header fields of every response of ours: nosniff and no-store. A handler
// can replace them. HSTS is the listener's, see NewServer.
func SecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
