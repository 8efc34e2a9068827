// Package idempotency says what makes two requests the same: it reads the Idempotency-Key and takes the fingerprint of a request.
package idempotency

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
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

// Fingerprint is the keyed hash of method, path and body. Bodies that are the same JSON value give the same: order of names and
// white space do not count, and no body is an empty object. A body that is not JSON counts as its bytes.
func Fingerprint(secret []byte, method, path string, body []byte) []byte {
	if len(body) == 0 {
		body = []byte("{}") // a request without fields, written the short way
	}
	canonical := jsontext.Value(append([]byte(nil), body...))
	if canonical.Canonicalize() != nil {
		canonical = body
	}
	mac := hmac.New(sha256.New, secret)
	for _, part := range [][]byte{[]byte(method), []byte(path), canonical} {
		mac.Write(part)
		mac.Write([]byte{0}) // none of the parts contains it, so no two triples run together
	}
	return mac.Sum(nil)
}
