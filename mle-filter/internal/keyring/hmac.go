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

// hmacKeySize is the length of the HMAC key in bytes.
const hmacKeySize = 32

// hmacKeyBinding is the associated data of the encrypted HMAC key.
var hmacKeyBinding = []byte("causeway/mle.hmac")

// newHMACKey makes the HMAC key and encrypts it. Rotations of the keyset and rewraps keep this
// key. A new one would refuse all rows of keys. It would not find the stored responses either, so
// retries would be executed again.
func newHMACKey(wrap tink.AEAD) ([]byte, error) {
	key := make([]byte, hmacKeySize)
	_, _ = rand.Read(key) // it never fails
	return sealHMACKey(key, wrap)
}

func sealHMACKey(key []byte, wrap tink.AEAD) ([]byte, error) {
	sealed, err := wrap.Encrypt(key, hmacKeyBinding)
	if err != nil {
		return nil, fmt.Errorf("keyring: encrypt the HMAC key: %w", err)
	}
	return sealed, nil
}

func openHMACKey(sealed []byte, wrap tink.AEAD) ([]byte, error) {
	key, err := wrap.Decrypt(sealed, hmacKeyBinding)
	if err != nil || len(key) != hmacKeySize {
		return nil, errors.New("keyring: the HMAC key cannot be decrypted: " +
			"set the key-encryption key that encrypted it, or restore the store")
	}
	return key, nil
}

func rewrapHMACKey(sealed []byte, from, to tink.AEAD) ([]byte, error) {
	key, err := openHMACKey(sealed, from)
	if err != nil {
		return nil, err
	}
	return sealHMACKey(key, to)
}

// hmacs returns the HMACs of an Idempotency-Key and a fingerprint. The store holds them instead of
// the values, because a value could be guessed, or contain confidential text.
func (o *openKeyset) hmacs(once Once) (key string, fingerprint []byte) {
	mac := func(domain byte, value []byte) []byte {
		h := hmac.New(sha256.New, o.hmacKey)
		h.Write([]byte{domain})
		h.Write(value)
		return h.Sum(nil)
	}
	return hex.EncodeToString(mac('k', []byte(once.Key))), mac('f', once.Fingerprint)
}
