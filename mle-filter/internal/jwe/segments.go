package jwe

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// Limits bound a message, in bytes.
type Limits struct {
	Header    int // of the protected header, decoded
	Plaintext int
}

const segments = 5 // header, encrypted key, iv, ciphertext, tag

// lowBits are the bits of a segment's last character that belong to no byte, by the segment's
// length modulo 4.
var lowBits = [4]int{0, 0, 0x0f, 0x03}

// split splits a message into its segments and accepts only the canonical encoding. go-jose also
// accepts line breaks, unused bits in a last character, and a moved border between ciphertext and
// tag. It rejects characters outside base64url.
func split(token []byte) (parts [segments][]byte, err error) {
	if bytes.IndexByte(token, '\n') >= 0 || bytes.IndexByte(token, '\r') >= 0 {
		return parts, refuse(ReasonEncoding, "The body has a line break. Send only the compact JWE.")
	}
	rest := token
	for i := range segments - 1 {
		var found bool
		if parts[i], rest, found = bytes.Cut(rest, []byte{'.'}); !found {
			return parts, refuse(ReasonEncoding, "The body is not a compact JWE: it must have five segments.")
		}
	}
	if parts[segments-1] = rest; bytes.IndexByte(rest, '.') >= 0 {
		return parts, refuse(ReasonEncoding, "The body is not a compact JWE: it must have five segments.")
	}
	for _, part := range parts {
		if !canonical(part) {
			return parts, refuse(ReasonEncoding, notCanonical)
		}
	}
	if len(parts[2]) != encodedLen(ivSize) || len(parts[4]) != encodedLen(tagSize) {
		return parts, refuse(ReasonEncoding, "The IV must have 12 bytes and the tag 16.")
	}
	return parts, nil
}

// canonical reports whether an encoder can have written a segment. The caller has rejected line
// breaks, and the decoder checks the characters.
func canonical(segment []byte) bool {
	if len(segment) == 0 {
		return true
	}
	over := len(segment) % 4
	if over == 1 {
		return false
	}
	value := strings.IndexByte(alphabet, segment[len(segment)-1])
	return value >= 0 && value&lowBits[over] == 0
}

const notCanonical = "A segment of the body is not unpadded base64url in its canonical form."

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func encodedLen(n int) int { return base64.RawURLEncoding.EncodedLen(n) }

func decodedLen(segment []byte) int { return base64.RawURLEncoding.DecodedLen(len(segment)) }

// MaxSize returns the largest size of a message in bytes, for a header and a plaintext of the
// given lengths.
func MaxSize(header, plaintext int) int {
	return encodedLen(header) + encodedLen(maxModulus/8) + encodedLen(ivSize) + encodedLen(plaintext) + encodedLen(
		tagSize) + segments - 1
}
