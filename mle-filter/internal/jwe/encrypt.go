package jwe

import (
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Recipient is a public key that messages are encrypted to.
type Recipient struct {
	key jose.JSONWebKey
	alg Alg
}

// NewRecipient returns a recipient for a public JWK with an algorithm. It returns an error if the
// key cannot be used for encryption.
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

// KID returns the key id in the messages.
func (r *Recipient) KID() string { return r.key.KeyID }

// Alg returns the algorithm of the key.
func (r *Recipient) Alg() Alg { return r.alg }

// Binding are the members of a protected header that bind a message to its request. Empty members
// are omitted.
type Binding struct {
	Method         string // htm
	Path           string // htu
	ResponseTo     string // rsp: RequiredResponse, or the id of a response key
	IdempotencyKey string // idk
}

// Encrypt encrypts a message to the recipient. Its header has the time and, unless empty, the media
// type.
func (r *Recipient) Encrypt(plaintext []byte, contentType string, now time.Time) ([]byte, error) {
	return r.EncryptBound(plaintext, contentType, now, Binding{})
}

// EncryptBound is Encrypt for a message that is bound to a request.
func (r *Recipient) EncryptBound(plaintext []byte, contentType string, now time.Time, to Binding) ([]byte, error) {
	options := headerOptions(contentType, now)
	for name, value := range map[jose.HeaderKey]string{
		"htm": to.Method, "htu": to.Path, "rsp": to.ResponseTo, "idk": to.IdempotencyKey,
	} {
		if value != "" {
			options.WithHeader(name, value)
		}
	}
	return encrypt(jose.Recipient{Algorithm: jose.KeyAlgorithm(r.alg), Key: r.key}, options, plaintext)
}

// headerOptions returns the members of every protected header: the time and, unless empty, the
// media type.
func headerOptions(contentType string, now time.Time) *jose.EncrypterOptions {
	options := (&jose.EncrypterOptions{}).WithType("JOSE").WithHeader("iat", now.Unix())
	if contentType != "" {
		options.WithContentType(jose.ContentType(contentType))
	}
	return options
}

func encrypt(to jose.Recipient, options *jose.EncrypterOptions, plaintext []byte) ([]byte, error) {
	encrypter, err := jose.NewEncrypter(enc, to, options)
	if err != nil {
		return nil, fmt.Errorf("jwe: encrypt: %w", err)
	}
	object, err := encrypter.Encrypt(plaintext)
	if err != nil {
		return nil, fmt.Errorf("jwe: encrypt: %w", err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		return nil, fmt.Errorf("jwe: encrypt: %w", err)
	}
	return []byte(token), nil
}
