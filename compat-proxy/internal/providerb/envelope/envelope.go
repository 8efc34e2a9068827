package envelope

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // see keyAlgorithms
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrDecrypt is the only error of Decrypt, so that it does not reveal the reason to the sender of a
// request.
var ErrDecrypt = errors.New("provider-b: the request cannot be decrypted")

// The algorithms that requests may be encrypted with, and responses are. SHA-1 in the padding of a
// request is old, but has no known weakness there.
var (
	keyAlgorithms = []jose.KeyAlgorithm{jose.RSA_OAEP_256, jose.RSA_OAEP}
	encryptions   = []jose.ContentEncryption{jose.A256GCM, jose.A128GCM}
)

// Keys has the private keys that decrypt requests.
type Keys interface {
	// ProviderBDecryptionKey returns the key with the id kid, and false if there is none.
	ProviderBDecryptionKey(ctx context.Context, kid string) (*rsa.PrivateKey, bool)
}

// Wrapped returns the JWE of a body that is an encrypted request, and false for any other body.
func Wrapped(body []byte) (string, bool) {
	// Most bodies are plain. This check saves their parsing.
	if _, name, _ := bytes.Cut(body, []byte(`"`)); !bytes.HasPrefix(name, []byte("encryptedRequest")) {
		return "", false
	}
	var w struct {
		EncryptedRequest *string `json:"encryptedRequest"`
	}
	if err := json.Unmarshal(body, &w, json.RejectUnknownMembers(true)); err != nil || w.EncryptedRequest == nil {
		return "", false
	}
	return *w.EncryptedRequest, true
}

// header holds the members of a JWE header that Decrypt checks.
type header struct {
	KID         string                 `json:"kid"`
	Encryption  jose.ContentEncryption `json:"enc"`
	Compression jsontext.Value         `json:"zip"`
	Critical    jsontext.Value         `json:"crit"`
}

// Decrypt decrypts a JWE in compact form. The caller must bound its size. The text is never longer,
// because compression is rejected.
func Decrypt(ctx context.Context, keys Keys, compact string) ([]byte, error) {
	var h header
	first, _, _ := strings.Cut(compact, ".")
	if text, err := base64.RawURLEncoding.DecodeString(first); err != nil || json.Unmarshal(text, &h) != nil {
		return nil, ErrDecrypt
	}
	if len(h.Compression) > 0 || len(h.Critical) > 0 {
		return nil, ErrDecrypt
	}
	key, known := keys.ProviderBDecryptionKey(ctx, h.KID)
	if !known {
		return nil, ErrDecrypt
	}
	encrypted, err := jose.ParseEncryptedCompact(compact, keyAlgorithms, encryptions)
	if err != nil {
		return nil, ErrDecrypt
	}
	text, err := encrypted.Decrypt(contentKey{key, h.Encryption})
	if err != nil {
		return nil, ErrDecrypt
	}
	return text, nil
}

// contentKey decrypts the content key of a message with a private key.
type contentKey struct {
	private    *rsa.PrivateKey
	encryption jose.ContentEncryption
}

// DecryptKey implements jose.OpaqueKeyDecrypter. It returns no error. If the content key cannot be
// decrypted, it returns a random one, which then fails at the tag, as in RFC 7516, section 11.5.
// Otherwise the response time would distinguish a wrong key from a wrong tag.
func (k contentKey) DecryptKey(encrypted []byte, header jose.Header) ([]byte, error) {
	size := 32
	if k.encryption == jose.A128GCM {
		size = 16
	}
	random := make([]byte, size)
	_, _ = rand.Read(random) // it never fails
	padding := sha256.New()
	if header.Algorithm == string(jose.RSA_OAEP) {
		padding = sha1.New() //nolint:gosec // see keyAlgorithms
	}
	key, err := rsa.DecryptOAEP(padding, nil, k.private, encrypted, nil)
	if err != nil || len(key) != size {
		return random, nil //nolint:nilerr // the tag reports it
	}
	return key, nil
}

// Encrypt returns the body that contains text encrypted to key. kid is the client's id of the key.
func Encrypt(text []byte, kid string, key *rsa.PublicKey, now time.Time) ([]byte, error) {
	to := jose.Recipient{Algorithm: jose.RSA_OAEP_256, Key: key, KeyID: kid}
	encrypter, err := jose.NewEncrypter(jose.A256GCM, to, (&jose.EncrypterOptions{}).WithHeader("iat", now.Unix()))
	if err != nil {
		return nil, fmt.Errorf("provider-b: encrypt: %w", err)
	}
	encrypted, err := encrypter.Encrypt(text)
	if err != nil {
		return nil, fmt.Errorf("provider-b: encrypt: %w", err)
	}
	compact, err := encrypted.CompactSerialize()
	if err != nil {
		return nil, fmt.Errorf("provider-b: encrypt: %w", err)
	}
	return []byte(`{"encryptedResponse":"` + compact + `"}`), nil // compact form has no character that JSON escapes
}
