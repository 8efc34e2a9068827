package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"strings"

	"github.com/causeway-pay/causeway/shared/jsonscan"
	"github.com/causeway-pay/causeway/shared/securitycode"
)

// Evidence identifies a request without a nonce: it is the signed content. A hash of it is stored
// for a day, so it must not depend on a security code. The signed digest of the body does, so a
// hash of the body without its codes replaces it.

// evidence returns the signed content of a request that its client sent as c. The key is identified
// by an HMAC: its id is not signed, and two ids can have one key.
func (s signature) evidence(c candidate, key []byte, fields map[string]string, body []byte) string {
	fields = maps.Clone(fields)
	if _, signed := fields["digest"]; signed {
		fields["digest"] = bodyIdentity(body)
	}
	content, _ := s.content(c, fields) // c has a content, because its signature is right
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("evidence"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) + "\n" + content
}

// digestClaim is the position of a token's digest.
var digestClaim = jsonscan.Member{Depth: 1, Name: "digest"}

// tokenEvidence returns the signed content of a token without a nonce: its decoded header and
// payload, without the digest, and the body's identity. It leaves the signature out, because one
// content has several valid signatures.
func tokenEvidence(header, payload, body []byte) string {
	claimed, err := securitycode.Without(payload, func(m jsonscan.Member) bool { return m == digestClaim })
	if err != nil {
		return "" // not reached: readClaims is as strict
	}
	protected := base64.RawURLEncoding.EncodeToString(header) // free of line breaks, so the parts stay apart
	return strings.Join([]string{"token", protected, string(claimed), bodyIdentity(body)}, "\n")
}

// bodyIdentity returns a hash of a body without its security codes. It is "" for a body that is not
// JSON, which is rejected.
func bodyIdentity(body []byte) string {
	text, err := securitycode.Without(body, isSecurityCode)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// separators removes the separators that some clients put between the words of names.
var separators = strings.NewReplacer("-", "", "_", "")

// isSecurityCode reports whether a member is decoded as a security code, in upper or lower case.
func isSecurityCode(m jsonscan.Member) bool {
	if len(m.Name) < len("securityCode") {
		return false
	}
	return strings.EqualFold(separators.Replace(m.Name), "securityCode")
}
