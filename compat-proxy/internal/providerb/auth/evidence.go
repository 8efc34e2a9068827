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

// A request without a nonce is recognised by its evidence: all that was signed. A hash of it is stored
// for a day, so nothing in it may depend on a security code. The signed digest of the body does, and is
// replaced by a hash of the body without its codes.

// evidence returns the content that was signed with the key by a client that saw the request as c. The
// key is identified by an HMAC: its id is not signed, and two ids can have one key.
func (s signature) evidence(c candidate, key []byte, fields map[string]string, body []byte) string {
	fields = maps.Clone(fields)
	if _, signed := fields["digest"]; signed {
		fields["digest"] = bodyIdentity(body)
	}
	content, _ := s.content(c, fields) // c has a text: its signature is right
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("evidence"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) + "\n" + content
}

// digestClaim is the position of a token's digest.
var digestClaim = jsonscan.Member{Depth: 1, Name: "digest"}

// tokenEvidence returns the content that a token without a nonce signs: its decoded header and
// payload, without the digest, and the body's identity. The signature is left out: one content has
// several valid signatures.
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

// separators removes the characters with which some clients separate the words of names.
var separators = strings.NewReplacer("-", "", "_", "")

// isSecurityCode reports whether a member is read as a security code, in whatever case it is written.
func isSecurityCode(m jsonscan.Member) bool {
	if len(m.Name) < len("securityCode") {
		return false
	}
	return strings.EqualFold(separators.Replace(m.Name), "securityCode")
}
