package jwe

import (
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Recipient is a public key to seal for.
type Recipient struct {
	key jose.JSONWebKey
	alg Alg
}

// NewRecipient takes a public JWK that names its algorithm; an error says that nothing can be sealed for it.
func NewRecipient(key jose.JSONWebKey) (*Recipient, error) {
	alg := Alg(key.Algorithm)
	if !alg.fits(key.Key) || !key.Valid() {
		return nil, errKey
	}
	if key.Use != "" && key.Use != "enc" {
		return nil, errKey
	}
	return &Recipient{key: key, alg: alg}, nil
}

// KID is the key id that messages name.
func (r *Recipient) KID() string { return r.key.KeyID }

// Alg is the algorithm of the key.
func (r *Recipient) Alg() Alg { return r.alg }

// Seal encrypts a message for the recipient, says when, and of what media type it is when that is known.
func (r *Recipient) Seal(plaintext []byte, contentType string, now time.Time) ([]byte, error) {
	options := (&jose.EncrypterOptions{}).WithType("JOSE").WithHeader("iat", now.Unix())
	if contentType != "" {
		options.WithContentType(jose.ContentType(contentType))
	}
	encrypter, err := jose.NewEncrypter(enc, jose.Recipient{Algorithm: jose.KeyAlgorithm(r.alg), Key: r.key}, options)
	if err != nil {
		return nil, fmt.Errorf("jwe: seal: %w", err)
	}
	object, err := encrypter.Encrypt(plaintext)
	if err != nil {
		return nil, fmt.Errorf("jwe: seal: %w", err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		return nil, fmt.Errorf("jwe: seal: %w", err)
	}
	return []byte(token), nil
}
