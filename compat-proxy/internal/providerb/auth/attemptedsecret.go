package auth

import (
	"net/http"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
)

// SigningPrefix begins the AttemptedSecret of a request that was signed. The rest is not secret: it
// is the id or certificate of the key.
const SigningPrefix = "signed "

// AttemptedSecret returns the secret with which a request tries to authenticate: its API key, or
// the id or certificate of the key that signed it. A signature differs in each request, so it
// cannot show that two requests try the same secret. A request without a key counts as a separate
// attempt. The secret is zero if the headers have none of these. Only an API key has the form of
// one: a client that signs, with any key id, is bounded like other logins.
func AttemptedSecret(h http.Header) secret.String {
	carried, bearer := httpx.Bearer(h.Values("Authorization"))
	if !bearer {
		carried = h.Get("Signature")
		if s, err := parseSignature(carried); err == nil {
			carried = s.keyID
		}
		return signing(carried)
	}
	if key := secret.New(carried); len(carried) > maxToken || credentials.IsAPIKey(key) {
		return key
	}
	header, err := readHeader(carried)
	switch {
	case err == nil && len(header.X5C) > 0:
		return signing(header.X5C[0])
	case err == nil && header.KID != "":
		return signing(header.KID)
	}
	return secret.New(carried)
}

// signing returns the secret of a request that was signed with a key, or has a signature.
func signing(key string) secret.String {
	if key == "" {
		return secret.String{}
	}
	return secret.New(SigningPrefix + key)
}
