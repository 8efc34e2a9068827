// Package idempotency says what makes two requests the same: it reads the Idempotency-Key and takes the fingerprint of a request.
package idempotency

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Header names the key.
const Header = "Idempotency-Key"

// maxKey is the longest key in bytes.
const maxKey = 255

// What is wrong with a key.
var (
	ErrSeveral = errors.New("idempotency: more than one key")
	ErrInvalid = errors.New("idempotency: a key is 1 to 255 printable ascii characters")
)

// Key returns the request's key, "" when it has none.
func Key(h http.Header) (string, error) {
	lines := h[Header]
	switch {
	case len(lines) == 0:
		return "", nil
	case len(lines) > 1:
		return "", ErrSeveral
	}
	k := lines[0]
	if k == "" || len(k) > maxKey {
		return "", ErrInvalid
	}
	for i := range len(k) {
		if k[i] < 0x20 || k[i] > 0x7e {
			return "", ErrInvalid
		}
	}
	return k, nil
}

// public begins the names of keys that publishable API keys use. No header can carry it.
const public = "\x1f"

// Name is what the store knows a key by. Anybody may hold a publishable API key, so what is used with one never takes a key away from the
// merchant's own servers. A key that has a card number in it, which no merchant should do, is known by its keyed hash alone.
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

// hasCardNumber reports whether there are digits in a key, together or with spaces or hyphens between, that may be a card's number.
func hasCardNumber(key string) bool {
	run := make([]byte, 0, maxKey)
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

// Fingerprint is the keyed hash of method, path and body. Bodies that are the same JSON value give the same: order of names and
// white space do not count, and no body is an empty object. A body that is not JSON counts as its bytes.
func Fingerprint(pepper []byte, method, path string, body []byte) []byte {
	if len(body) == 0 {
		body = []byte("{}") // a request without fields, written the short way
	}
	canonical := jsontext.Value(append([]byte(nil), body...))
	if canonical.Canonicalize() != nil {
		canonical = body
	}
	mac := hmac.New(sha256.New, pepper)
	for _, part := range [][]byte{[]byte(method), []byte(path), canonical} {
		mac.Write(part)
		mac.Write([]byte{0}) // none of the parts contains it, so no two triples run together
	}
	return mac.Sum(nil)
}
