package apikey

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/causeway-pay/causeway/shared/secret"
)

// ErrMalformed reports that a string is not an API key of ours.
var ErrMalformed = errors.New("apikey: malformed key")

// Kind is where a key may be used, in the words of the v1 contract.
type Kind string

// The kinds of keys.
const (
	Secret      Kind = "secret"      // servers only
	Publishable Kind = "publishable" // browsers and mobile apps
)

// Mode is whether a key moves real money, in the words of the v1 contract.
type Mode string

// The modes of keys.
const (
	Test Mode = "test"
	Live Mode = "live"
)

// Parsed holds the claims of a key's text. It proves nothing: only the stored hash does.
type Parsed struct {
	Kind Kind
	Mode Mode
}

const (
	prefixLen = len("sk_test_")
	randomLen = 32
	bodyLen   = 43 // base62 digits that hold randomLen bytes
	sumLen    = 6  // base62 digits that hold 32 bits
	hintLen   = 4

	// Length is the number of characters of every key.
	Length = prefixLen + bodyLen + sumLen
)

// New makes a key from 32 bytes of random, which is crypto/rand.Reader outside of tests. It fails
// when random does, or when kind or mode is none of the constants above.
func New(kind Kind, mode Mode, random io.Reader) (secret.String, error) {
	prefix, ok := prefixOf(kind, mode)
	if !ok {
		return secret.String{}, fmt.Errorf("apikey: no prefix for kind %q and mode %q", kind, mode)
	}
	var raw [randomLen]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return secret.String{}, fmt.Errorf("apikey: read random bytes: %w", err)
	}
	key := make([]byte, 0, Length)
	key = append(key, prefix...)
	key = appendBase62(key, raw[:], bodyLen)
	return secret.New(string(appendSum(key))), nil
}

// Parse distinguishes a key from garbage by its prefix, length, alphabet and checksum, without the
// store. Its error is ErrMalformed and never repeats the key.
func Parse(key string) (Parsed, error) {
	if len(key) != Length {
		return Parsed{}, ErrMalformed
	}
	p, ok := parsePrefix(key[:prefixLen])
	if !ok {
		return Parsed{}, ErrMalformed
	}
	body := key[prefixLen : prefixLen+bodyLen]
	if !isBase62(body) || body > maxBody {
		return Parsed{}, ErrMalformed
	}
	var want [Length]byte
	if string(appendSum(append(want[:0], key[:Length-sumLen]...))) != key {
		return Parsed{}, ErrMalformed
	}
	return p, nil
}

// Hash returns the value that the store keeps instead of a key: its HMAC-SHA256 under pepper. So a
// stolen table without the pepper cannot confirm guesses.
func Hash(pepper []byte, key string) [32]byte {
	mac := hmac.New(sha256.New, pepper)
	mac.Write([]byte(key))
	var sum [32]byte
	mac.Sum(sum[:0])
	return sum
}

// Hint returns the last four characters of a key, by which its owner recognizes it. They belong to
// the checksum, so they reveal almost nothing of the secret. A string too short to be a key has no
// hint.
func Hint(key string) string {
	if len(key) < Length {
		return ""
	}
	return key[len(key)-hintLen:]
}

func prefixOf(kind Kind, mode Mode) (string, bool) {
	switch (Parsed{Kind: kind, Mode: mode}) {
	case Parsed{Secret, Test}:
		return "sk_test_", true
	case Parsed{Secret, Live}:
		return "sk_live_", true
	case Parsed{Publishable, Test}:
		return "pk_test_", true
	case Parsed{Publishable, Live}:
		return "pk_live_", true
	}
	return "", false
}

func parsePrefix(s string) (Parsed, bool) {
	switch s {
	case "sk_test_":
		return Parsed{Secret, Test}, true
	case "sk_live_":
		return Parsed{Secret, Live}, true
	case "pk_test_":
		return Parsed{Publishable, Test}, true
	case "pk_live_":
		return Parsed{Publishable, Live}, true
	}
	return Parsed{}, false
}

func appendSum(key []byte) []byte {
	var raw [4]byte
	binary.BigEndian.PutUint32(raw[:], crc32.ChecksumIEEE(key))
	return appendBase62(key, raw[:], sumLen)
}
