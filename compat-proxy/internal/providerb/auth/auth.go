package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/secret"
)

// ErrUnauthenticated is the only error: clients learn nothing of why. Errors wrap it with the reason, for the log.
var ErrUnauthenticated = errors.New("provider-b: not authenticated")

var errNoForm = errors.New("no Authorization and no Signature header")

// Request is what is judged, as it was received.
type Request struct {
	Method string
	// Host is the Host header, which is often that of the provider.
	Host string
	// Target is the escaped path with its query, Prefix what our mount has before the provider's own path; "" at the root.
	Target, Prefix string
	Header         http.Header
	Body           []byte
}

// Caller is who asks.
type Caller struct {
	// Merchant is the legacy merchant id; empty for one that came with a v1 API key.
	Merchant string
	Grant    credentials.Grant
	// Evidence is the same for two sendings of one request: the nonce of a JWT, the whole of what was signed. Empty when the way of logging
	// in has none.
	Evidence string
	// Nonce reports that Evidence is different for any two requests. Else two that are equal, and were signed in the same second, share it.
	Nonce bool
}

// Verifier judges requests. It is safe for concurrent use.
type Verifier struct{}

// New returns a verifier.
func New() *Verifier { return &Verifier{} }

// Verify returns who asks. The error wraps ErrUnauthenticated.
func (v *Verifier) Verify(_ context.Context, r Request) (Caller, error) {
	if key, ok := bearerKey(r.Header.Get("Authorization")); ok {
		return Caller{Grant: credentials.Grant{APIKey: key, UnlinkedRefunds: true}}, nil
	}
	return Caller{}, errors.Join(ErrUnauthenticated, errNoForm)
}

// bearerKey is the v1 API key of an Authorization header, and false when there is none in it.
func bearerKey(header string) (secret.String, bool) {
	scheme, rest, _ := strings.Cut(header, " ")
	key := secret.New(strings.TrimSpace(rest))
	return key, strings.EqualFold(scheme, "bearer") && credentials.IsAPIKey(key)
}
