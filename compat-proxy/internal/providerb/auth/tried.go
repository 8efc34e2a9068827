package auth

import (
	"net/http"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Tried returns what stands for the secret by which Verify judges a request: its API key, or the id
// or certificate of the key that signed it. A signature differs in each request, and so it cannot
// show that two requests try the same secret. Zero if the headers name no key.
func Tried(h http.Header) secret.String {
	carried, bearer := bearerOf(h)
	if !bearer {
		s, _ := parseSignature(h.Get("Signature")) // zero with an error
		return secret.New(s.keyID)
	}
	if key := secret.New(carried); credentials.IsAPIKey(key) {
		return key
	}
	if len(carried) > maxToken {
		return secret.String{}
	}
	header, err := readHeader(carried)
	if err != nil {
		return secret.String{}
	}
	if len(header.X5C) > 0 {
		return secret.New(header.X5C[0])
	}
	return secret.New(header.KID)
}

// bearerOf returns what an Authorization header of the Bearer scheme carries; false for any other.
func bearerOf(h http.Header) (string, bool) {
	scheme, carried, _ := strings.Cut(h.Get("Authorization"), " ")
	return strings.TrimSpace(carried), strings.EqualFold(scheme, "bearer")
}
