package idempotency

import (
	"errors"
	"net/http"
	"strings"
)

// Header is the name of the header that carries the key.
const Header = "Idempotency-Key"

// maxKey is the length of the longest key in bytes.
const maxKey = 255

// Errors of Key. Neither repeats the header's value, which may hold anything.
var (
	// ErrSeveral: the request has more than one Idempotency-Key line.
	ErrSeveral = errors.New("idempotency: more than one Idempotency-Key: send one")
	// ErrInvalid: the key is empty, too long, or has a character outside of printable ASCII.
	ErrInvalid = errors.New("idempotency: invalid Idempotency-Key: want 1 to 255 printable ASCII characters")
)

// Key returns the request's key, normalised, or "" for a request without the header. It returns
// ErrSeveral or ErrInvalid for a header that names no key.
func Key(h http.Header) (string, error) {
	lines := h[Header]
	switch {
	case len(lines) == 0:
		return "", nil
	case len(lines) > 1:
		return "", ErrSeveral
	}
	k := Normalize(lines[0])
	if k == "" || len(k) > maxKey {
		return "", ErrInvalid
	}
	for i := range len(k) {
		if !printable(k[i]) {
			return "", ErrInvalid
		}
	}
	return k, nil
}

// Normalize returns the key that a header value names. A well-formed structured-field string
// (RFC 8941, section 3.3.3) is unquoted, so that "k" in quotes and k without them are one key. Any
// other value is returned as it is, and so is a string with parameters.
func Normalize(value string) string {
	quoted := strings.Trim(value, " ")
	if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return value
	}
	quoted = quoted[1 : len(quoted)-1]
	key := make([]byte, 0, len(quoted))
	for i := 0; i < len(quoted); i++ {
		c := quoted[i]
		if c == '\\' {
			i++
			if i == len(quoted) || quoted[i] != '"' && quoted[i] != '\\' {
				return value
			}
			key = append(key, quoted[i])
			continue
		}
		if c == '"' || !printable(c) {
			return value
		}
		key = append(key, c)
	}
	return string(key)
}

func printable(c byte) bool { return c >= 0x20 && c <= 0x7e }
