package httpx

import (
	"net/http"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// versions are the values of the header field of a request for the only version.
var versions = []string{v1.Version}

// Versioned names the version of v1 in the responses of next. A request for another version goes to
// refuse.
func Versioned(refuse http.HandlerFunc, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()[v1.VersionField] = versions
		if wanted := r.Header[v1.VersionField]; len(wanted) > 1 || len(wanted) == 1 && wanted[0] != v1.Version {
			refuse(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
