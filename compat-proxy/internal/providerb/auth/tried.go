package auth

import (
	"net/http"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Tried returns what stands for the secret by which Verify judges a request: its API key, or the id
// or certificate of the key that signed it. A signature differs in each request, and so it cannot
// show that two requests try the same secret. A request that names no key stands for itself: many
// of them at once are as many attempts. Zero if the headers carry neither.
func Tried(h http.Header) secret.String {
	carried, bearer := bearerOf(h)
	if !bearer {
		carried = h.Get("Signature")
		if s, err := parseSignature(carried); err == nil {
			return secret.New(s.keyID)
		}
		return secret.New(carried)
	}
	if key := secret.New(carried); len(carried) > maxToken || credentials.IsAPIKey(key) {
		return key
	}
	header, err := readHeader(carried)
	switch {
	case err == nil && len(header.X5C) > 0:
		return secret.New(header.X5C[0])
	case err == nil && header.KID != "":
		return secret.New(header.KID)
	}
	return secret.New(carried)
}

// bearerOf returns what an Authorization header of the Bearer scheme carries; false for any other.
func bearerOf(h http.Header) (string, bool) {
	scheme, carried, _ := strings.Cut(h.Get("Authorization"), " ")
	return strings.TrimSpace(carried), strings.EqualFold(scheme, "bearer")
}
