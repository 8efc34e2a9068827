package jwe

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	saltSize = 32
	// responseInfo separates response keys from all other keys that HKDF could derive.
	responseInfo = "causeway response v1"
)

// errUsed reports a second message under a key for one message.
var errUsed = errors.New("jwe: the response key has been used")

// ResponseKey encrypts the response to one decrypted message. Only the sender of that message and
// the service can derive it. It encrypts one response and then wipes itself.
type ResponseKey struct {
	kid  string
	salt [saltSize]byte
	// The key stands behind a pointer because fmt then prints only an address. Nil after use.
	key *[cekSize]byte
}

// newResponseKey derives a key under a fresh salt. The hash of the request in info gives each
// request its own key, even if two requests have the same content key.
func newResponseKey(contentKey []byte, kid string, request []byte) (*ResponseKey, error) {
	k := &ResponseKey{kid: kid, key: new([cekSize]byte)}
	_, _ = rand.Read(k.salt[:]) // it never fails
	derived, err := deriveResponseKey(contentKey, k.salt[:], kid, request)
	if err != nil {
		return nil, err
	}
	copy(k.key[:], derived)
	clear(derived)
	return k, nil
}

// deriveResponseKey returns the key of the response to a request: a compact JWE to the key kid.
func deriveResponseKey(contentKey, salt []byte, kid string, request []byte) ([]byte, error) {
	hash := sha256.Sum256(request)
	key, err := hkdf.Key(sha256.New, contentKey, salt, responseInfo+kid+string(hash[:]), cekSize)
	if err != nil {
		return nil, fmt.Errorf("jwe: derive the response key: %w", err)
	}
	return key, nil
}

// Encrypt encrypts the response, with alg dir. Its header has the salt, the time, the key id of the
// request and, unless empty, the media type. A second call returns an error.
func (k *ResponseKey) Encrypt(plaintext []byte, contentType string, now time.Time) ([]byte, error) {
	if k.key == nil {
		return nil, errUsed
	}
	defer func() {
		clear(k.key[:])
		k.key = nil
	}()
	options := headerOptions(contentType, now).WithHeader("salt", base64.RawURLEncoding.EncodeToString(k.salt[:]))
	return encrypt(jose.Recipient{Algorithm: jose.DIRECT, Key: k.key[:], KeyID: k.kid}, options, plaintext)
}
