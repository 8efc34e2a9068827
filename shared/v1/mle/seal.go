package mle

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-jose/go-jose/v4"
	josecipher "github.com/go-jose/go-jose/v4/cipher"
	"github.com/go-json-experiment/json"
)

// keySize is the size of content keys and response keys in bytes.
const keySize = 32

// message is an encrypted request. Its content key also gives the key of the response.
type message struct {
	token      string // a compact JWE
	kid        string
	contentKey []byte
}

// seal encrypts a body to a key, with these members of the protected header besides alg, enc, kid
// and epk. It is written here because go-jose does not expose the content key.
func seal(body []byte, to jose.JSONWebKey, header map[string]any) (*message, error) {
	m := &message{kid: to.KeyID, contentKey: make([]byte, keySize)}
	_, _ = rand.Read(m.contentKey) // it never fails
	header["alg"], header["enc"], header["kid"] = to.Algorithm, jose.A256GCM, to.KeyID
	wrapped, err := wrap(m.contentKey, to, header)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, fmt.Errorf("mle: encrypt: %w", err)
	}
	block, err := aes.NewCipher(m.contentKey)
	if err != nil {
		return nil, fmt.Errorf("mle: encrypt: %w", err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("mle: encrypt: %w", err)
	}
	nonce := make([]byte, gcm.NonceSize())
	_, _ = rand.Read(nonce) // it never fails
	protected := base64.RawURLEncoding.EncodeToString(text)
	sealed := gcm.Seal(nil, nonce, body, []byte(protected))
	tag := len(sealed) - gcm.Overhead()
	parts := []string{protected}
	for _, part := range [][]byte{wrapped, nonce, sealed[:tag], sealed[tag:]} {
		parts = append(parts, base64.RawURLEncoding.EncodeToString(part))
	}
	m.token = strings.Join(parts, ".")
	return m, nil
}

var errMismatch = errors.New("its type does not match its alg")

// wrap encrypts the content key, and adds the ephemeral key of ECDH-ES to the header.
func wrap(contentKey []byte, to jose.JSONWebKey, header map[string]any) ([]byte, error) {
	switch key := to.Key.(type) {
	case *rsa.PublicKey:
		if to.Algorithm != RSAOAEP256 {
			return nil, errMismatch
		}
		return rsa.EncryptOAEP(sha256.New(), rand.Reader, key, contentKey, nil)
	case *ecdsa.PublicKey:
		if to.Algorithm != ECDHESA256KW || key.Curve != elliptic.P256() {
			return nil, errMismatch
		}
		ephemeral, err := ecdsa.GenerateKey(key.Curve, rand.Reader)
		if err != nil {
			return nil, err
		}
		header["epk"] = &jose.JSONWebKey{Key: &ephemeral.PublicKey}
		kek := josecipher.DeriveECDHES(to.Algorithm, nil, nil, ephemeral, key, keySize)
		defer clear(kek)
		block, err := aes.NewCipher(kek)
		if err != nil {
			return nil, err
		}
		return josecipher.KeyWrap(block, contentKey)
	}
	return nil, errMismatch
}

// open decrypts the response to the message, whose header has the salt of its key.
func (m *message) open(response *jose.JSONWebEncryption) ([]byte, error) {
	encoded, _ := response.Header.ExtraHeaders["salt"].(string)
	salt, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256([]byte(m.token))
	key, err := hkdf.Key(sha256.New, m.contentKey, salt, "causeway response v1"+m.kid+string(hash[:]), keySize)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	return response.Decrypt(key)
}
