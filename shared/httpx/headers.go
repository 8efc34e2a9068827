package httpx

import "net/http"

// SecurityHeaders sets what every answer of ours carries: nosniff and no-store. A handler may set others in their place. HSTS is
// the listener's, see NewServer.
func SecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
