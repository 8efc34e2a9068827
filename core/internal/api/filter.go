package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"net/http"
)

// proofField is where a filter in front puts its secret.
const proofField = "X-Svc-Int-Proof"

// behindFilter refuses what did not come through the filter that stands in front: nobody has judged whether it had to be encrypted. Health is
// told to everyone, since it is asked for by what starts us.
func (a *API) behindFilter(next http.Handler) http.Handler {
	if a.FilterSecret.IsZero() {
		return next
	}
	want := sha256.Sum256([]byte(a.FilterSecret.Reveal()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values := r.Header[proofField]
		if len(values) == 1 {
			got := sha256.Sum256([]byte(values[0]))
			if subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
				next.ServeHTTP(w, r)
				return
			}
		}
		if r.URL.Path == "/v1/health" {
			next.ServeHTTP(w, r)
			return
		}
		a.refuse(w, r, &fault{code: codeNotThroughFilter})
	})
}

// isSealed reports whether a request has an encrypted body. A filter in front opens those; one that gets here was sent to the wrong place, and
// must not be taken for a request without a body where bodies are not read.
func isSealed(r *http.Request) bool {
	if len(r.Header["Content-Type"]) == 0 || r.ContentLength == 0 {
		return false
	}
	for _, value := range r.Header["Content-Type"] {
		if kind, _, err := mime.ParseMediaType(value); err == nil && kind == "application/jose" {
			return true
		}
	}
	return false
}
