package httpx

import (
	"net/http"
	"sync/atomic"
)

// Limit lets at most n requests into next at a time, and gives further ones to full, which should
// respond at once. n of 0 or less sets no limit.
func Limit(n int, full, next http.Handler) http.Handler {
	if n <= 0 {
		return next
	}
	var inside atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer inside.Add(-1)
		if inside.Add(1) > int64(n) {
			full.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
