package idempotency

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/jsonscan"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/securitycode"
)

// public begins the names of keys that publishable API keys use. No header can carry it.
const public = "\x1f"

// Name returns the name under which the store keeps a key. Keys that came with a publishable API key
// have names of their own, so that a payer cannot take a key away from the merchant's servers. A key
// that contains a card number is stored as its HMAC under the pepper.
func Name(pepper []byte, key string, publishable bool) string {
	name := key
	if hasCardNumber(key) {
		mac := hmac.New(sha256.New, pepper)
		mac.Write([]byte(key))
		name = "\x1e" + hex.EncodeToString(mac.Sum(nil))
	}
	if publishable {
		name = public + name
	}
	return name
}

// hasCardNumber reports whether a key contains digits that may be a card number, with or without
// spaces or hyphens between them.
func hasCardNumber(key string) bool {
	run := make([]byte, 0, len(key))
	for i := range len(key) + 1 {
		switch {
		case i < len(key) && key[i] >= '0' && key[i] <= '9':
			run = append(run, key[i])
			continue
		case i < len(key) && (key[i] == ' ' || key[i] == '-') && len(run) > 0:
			continue
		}
		if len(run) > card.MaxDigits || card.Valid(secret.New(string(run))) {
			return true
		}
		run = run[:0]
	}
	return false
}

// Fingerprint returns the HMAC of method, path and body under the pepper. Bodies that are the same
// JSON value have the same fingerprint: the order of names and white space do not count, and an empty
// body counts as an empty object. Security codes do not count either, because a stored HMAC confirms
// guesses to a reader of the pepper. All bodies that are not JSON count as one, and so do those that
// nest too deep: each is rejected, and its fingerprint is never stored.
func Fingerprint(pepper []byte, method, path string, body []byte) []byte {
	mac := hmac.New(sha256.New, pepper)
	for _, part := range [][]byte{[]byte(method), []byte(path), comparableBody(body)} {
		mac.Write(part)
		mac.Write([]byte{0}) // none of the parts contains it, so no two triples run together
	}
	return mac.Sum(nil)
}

// codes are the members of request bodies that are security codes.
var codes = map[jsonscan.Member]bool{
	{Depth: 2, Parent: "card", Name: "cvc"}: true,
	{Depth: 1, Name: "card_cvc"}:            true,
}

// comparableBody returns the canonical form of a body without its security codes. It returns nil if the
// body is not JSON or nests too deep: Canonicalize copies each object once for each level around it.
func comparableBody(body []byte) []byte {
	if len(body) == 0 {
		return []byte("{}") // a request without fields, written the short way
	}
	canonical := jsontext.Value(bytes.Clone(body))
	if jsonscan.TooDeep(body) || canonical.Canonicalize() != nil {
		return nil
	}
	if !bytes.Contains(canonical, []byte(`cvc":`)) { // the canonical form has no escapes in it
		return canonical
	}
	out, err := securitycode.Without(canonical, func(m jsonscan.Member) bool { return codes[m] })
	if err != nil {
		return nil
	}
	return out
}
