package idempotency

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	keyheader "github.com/causeway-pay/causeway/shared/idempotency"
	"github.com/causeway-pay/causeway/shared/jsonscan"
	"github.com/causeway-pay/causeway/shared/securitycode"
)

// The first byte of the text that is hashed to a name. No method begins with it, so the texts of
// names and of fingerprints always differ.
const (
	byServer byte = iota + 1
	byPublishableKey
)

// nameSize is the length of a name in bytes, before it is written as hexadecimal digits. Half of
// the HMAC is as long as a UUID and keeps the index of the keys short.
const nameSize = sha256.Size / 2

// Name returns the name under which the store keeps an idempotency key: 32 hexadecimal digits of
// its HMAC under the pepper. A key can hold any text of a client, a card number included, so the
// store holds no key itself. The same key has another name if it came with a publishable API key.
// So a payer cannot occupy a key of the merchant's servers.
func Name(pepper []byte, key string, publishable bool) string {
	sender := byServer
	if publishable {
		sender = byPublishableKey
	}
	mac := hmac.New(sha256.New, pepper)
	mac.Write([]byte{sender})
	mac.Write([]byte(key))
	return hex.EncodeToString(mac.Sum(nil)[:nameSize])
}

// Fingerprint returns the HMAC of method, path and body under the pepper. Bodies with the same
// canonical form have the same fingerprint. The order of names and white space do not count, and an
// empty body counts as an empty object. Security codes do not count either: with the pepper, a
// stored HMAC would confirm guesses of them. All bodies that are not JSON, or nest too deep, count
// as one. Each of them is rejected, and its fingerprint is never stored.
func Fingerprint(pepper []byte, method, path string, body []byte) []byte {
	mac := hmac.New(sha256.New, pepper)
	for _, part := range [][]byte{[]byte(method), []byte(path), comparableBody(body)} {
		mac.Write(part)
		mac.Write([]byte{0}) // no part contains the separator, so different triples have different texts
	}
	return mac.Sum(nil)
}

// codes are the names of the members that hold security codes.
var codes = map[jsonscan.Member]bool{
	{Depth: 2, Parent: "card", Name: "cvc"}: true,
	{Depth: 1, Name: "card_cvc"}:            true,
}

// comparableBody returns the canonical form of a body without its security codes. It returns nil if
// the body is not JSON or nests too deep.
func comparableBody(body []byte) []byte {
	canonical := keyheader.Canonical(body)
	if !bytes.Contains(canonical, []byte(`cvc":`)) { // the canonical form has no escapes in it
		return canonical
	}
	out, err := securitycode.Without(canonical, func(m jsonscan.Member) bool { return codes[m] })
	if err != nil {
		return nil
	}
	return out
}
