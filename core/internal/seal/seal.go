package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
)

// mark is the first byte of everything sealed. No JSON text begins with it.
const mark = 0x01

// ErrBroken means that the sealed bytes were changed, belong to another place, or were sealed under another key.
var ErrBroken = errors.New("seal: broken")

// Sealer seals under one key. It is safe for concurrent use.
type Sealer struct{ aead cipher.AEAD }

// New returns a Sealer for a key of 32 bytes.
func New(key []byte) (*Sealer, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block) // a few a minute at most, far from where random nonces repeat
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return &Sealer{aead}, nil
}

// Seal encrypts plain for the place that context names; only there can it be opened.
func (s *Sealer) Seal(plain, context []byte) []byte {
	return s.aead.Seal([]byte{mark}, nil, plain, context) //nolint:gosec // no nonce is passed: this AEAD draws its own
}

// Sealed reports whether Seal made b.
func Sealed(b []byte) bool { return len(b) > 0 && b[0] == mark }

// Open is the inverse of Seal. Its error is ErrBroken.
func (s *Sealer) Open(sealed, context []byte) ([]byte, error) {
	if !Sealed(sealed) {
		return nil, ErrBroken
	}
	plain, err := s.aead.Open(nil, nil, sealed[1:], context)
	if err != nil {
		return nil, ErrBroken
	}
	return plain, nil
}
