package keyring

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/tink"
)

// nameKeySize is the length of the key of names in bytes.
const nameKeySize = 32

// nameBinding is the associated data of the encrypted key of names.
var nameBinding = []byte("causeway/mle.names")

// newNameKey makes the key of names and encrypts it. Rotations of the keyset and rewraps keep this
// key: with a new one, retries would be executed again. A name lives for 24 hours.
func newNameKey(wrap tink.AEAD) ([]byte, error) {
	key := make([]byte, nameKeySize)
	_, _ = rand.Read(key) // it never fails
	return sealNameKey(key, wrap)
}

func sealNameKey(key []byte, wrap tink.AEAD) ([]byte, error) {
	sealed, err := wrap.Encrypt(key, nameBinding)
	if err != nil {
		return nil, fmt.Errorf("keyring: encrypt the key of names: %w", err)
	}
	return sealed, nil
}

func openNameKey(sealed []byte, wrap tink.AEAD) ([]byte, error) {
	key, err := wrap.Decrypt(sealed, nameBinding)
	if err != nil || len(key) != nameKeySize {
		return nil, errors.New("keyring: the key of names does not open: wrong key-encryption key, or a damaged store")
	}
	return key, nil
}

func rewrapNameKey(sealed []byte, from, to tink.AEAD) ([]byte, error) {
	key, err := openNameKey(sealed, from)
	if err != nil {
		return nil, err
	}
	return sealNameKey(key, to)
}

// name returns the values that the store keeps instead of the Idempotency-Key and the fingerprint.
// Either could be guessed, or contain confidential text.
func (o *opened) name(once Once) (key string, fingerprint []byte) {
	mac := func(what byte, value []byte) []byte {
		h := hmac.New(sha256.New, o.nameKey)
		h.Write([]byte{what})
		h.Write(value)
		return h.Sum(nil)
	}
	return hex.EncodeToString(mac('k', []byte(once.Key))), mac('f', once.Fingerprint)
}
