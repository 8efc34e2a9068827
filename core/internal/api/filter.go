package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"net/http"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/shared/secret"
)

// ProofField is where a filter in front puts its secret.
const ProofField = "X-Svc-Int-Proof"

// EncryptionField is where a filter in front says what of a request was encrypted, or will be of its answer: v1;response=required.
const EncryptionField = "X-Svc-Int-Mle"

// answerSealed is the word in it for an answer that the client gets encrypted or not at all.
const answerSealed = "response=required"

// askField is where a filter in front shows the operator token when it asks, with a publishable key, whose that key is: what it opens the
// encrypted body of a token for. Those who have the key only are told nothing.
const askField = "X-Svc-Int-Asks"

// behindFilter refuses what did not come through the filter that stands in front: nobody has judged whether it had to be encrypted. Health is
// told to everyone, since it is asked for by what starts us.
func (a *API) behindFilter(next http.Handler) http.Handler {
	if a.FilterSecret.IsZero() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == healthPath || shows(r, ProofField, a.FilterSecret) {
			next.ServeHTTP(w, r)
			return
		}
		a.refuse(w, r, &fault{code: codeNotThroughFilter})
	})
}

// asked reports whether a filter of ours asks.
func (a *API) asked(r *http.Request) bool {
	lines := r.Header[askField]
	if len(lines) != 1 {
		return false
	}
	_, role, err := a.operatorOf(r.Context(), lines[0])
	return err == nil && (role == auth.RoleFilter || role == auth.RoleOperator)
}

// isFilterToken reports whether text is the token of the filter and the edge from the
// configuration.
func (a *API) isFilterToken(text string) bool {
	given, want := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(a.FilterToken.Reveal()))
	return !a.FilterToken.IsZero() && subtle.ConstantTimeCompare(given[:], want[:]) == 1
}

// shows reports whether a request has want in that one header line.
func shows(r *http.Request, field string, want secret.String) bool {
	values := r.Header[field]
	if len(values) != 1 {
		return false
	}
	given, wanted := sha256.Sum256([]byte(values[0])), sha256.Sum256([]byte(want.Reveal()))
	return subtle.ConstantTimeCompare(given[:], wanted[:]) == 1
}

// sealsAnswer reports whether the filter in front will encrypt the answer. A filter that has shown its secret is believed; without one anybody
// could say it, so it means nothing.
func (a *API) sealsAnswer(r *http.Request) bool {
	told := r.Header[EncryptionField]
	if a.FilterSecret.IsZero() || len(told) != 1 {
		return false
	}
	for word := range strings.SplitSeq(told[0], ";") {
		if word == answerSealed {
			return true
		}
	}
	return false
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
