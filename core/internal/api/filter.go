package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"net/http"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
)

// ProofField is where a filter in front puts its secret.
const ProofField = "X-Svc-Int-Proof"

// EncryptionField is the header field in which a filter in front reports the encryption of a
// request or of its response: v1;response=required.
const EncryptionField = httpx.EncryptionField

// encryptedResponse is its value if the client must get the response encrypted or not at all.
const encryptedResponse = "response=required"

// identifyField is the header field of the operator token that a filter in front sends. With it,
// the filter identifies the merchant of a publishable key before it opens the encrypted body of a
// token. A client that has the key alone gets no information.
const identifyField = "X-Svc-Int-Asks"

// The outcomes of requests that did not pass the filter in front, in the log and the metrics. A
// wrong secret is that of a filter whose secret differs. Without one, the request came directly.
const (
	secretWrong   = "filter_secret_wrong"
	secretMissing = "filter_secret_missing"
)

// behindFilter refuses a request that did not pass the filter in front, which checks whether it had
// to be encrypted. Health is open to all, since the programs that start core read it.
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
		outcome := secretWrong
		if r.Header.Get(ProofField) == "" {
			outcome = secretMissing
		}
		httpx.EventFrom(r.Context()).SetOutcome(outcome)
	})
}

// fromFilter reports whether a filter of ours sent the request.
func (a *API) fromFilter(r *http.Request) bool {
	lines := r.Header[identifyField]
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

// encryptsResponse reports whether the filter in front will encrypt the response. A filter that has
// shown its secret is trusted. Without a secret any client could send the field, so it means
// nothing.
func (a *API) encryptsResponse(r *http.Request) bool {
	values := r.Header[EncryptionField]
	if a.FilterSecret.IsZero() || len(values) != 1 {
		return false
	}
	for word := range strings.SplitSeq(values[0], ";") {
		if word == encryptedResponse {
			return true
		}
	}
	return false
}

// hasEncryptedBody reports whether a request has an encrypted body, which a filter in front opens.
// A request that arrives here was sent to the wrong place. It must not pass for a request without a
// body where bodies are not read.
func hasEncryptedBody(r *http.Request) bool {
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
