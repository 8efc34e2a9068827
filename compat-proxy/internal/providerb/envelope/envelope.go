package envelope

import (
	"bytes"
	"context"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrUnopened is the only error of Open, so that it does not reveal the reason to the sender of a
// request.
var ErrUnopened = errors.New("provider-b: the request cannot be opened")

// The algorithms that requests may be encrypted with, and responses are. SHA-1 in the padding of a
// request is old, but has no known weakness there.
var (
	keyAlgorithms = []jose.KeyAlgorithm{jose.RSA_OAEP_256, jose.RSA_OAEP}
	encryptions   = []jose.ContentEncryption{jose.A256GCM, jose.A128GCM}
)

// Keys has the private keys that open requests.
type Keys interface {
	// ProviderBOpener returns the key that goes by kid, and false when there is none.
	ProviderBOpener(ctx context.Context, kid string) (*rsa.PrivateKey, bool)
}

// Wrapped returns the JWE of a body that is an encrypted request, and false for any other body.
func Wrapped(body []byte) (string, bool) {
	// nearly always: the look into it is saved
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

// header is what of a JWE's header is looked at.
type header struct {
	KID         string         `json:"kid"`
	Compression jsontext.Value `json:"zip"`
	Critical    jsontext.Value `json:"crit"`
}

// Open decrypts a JWE in compact form. Its size is the caller's to bound; the text is never longer,
// since compression is refused.
func Open(ctx context.Context, keys Keys, compact string) ([]byte, error) {
	var h header
	first, _, _ := strings.Cut(compact, ".")
	if text, err := base64.RawURLEncoding.DecodeString(first); err != nil || json.Unmarshal(text, &h) != nil {
		return nil, ErrUnopened
	}
	if len(h.Compression) > 0 || len(h.Critical) > 0 {
		return nil, ErrUnopened
	}
	key, known := keys.ProviderBOpener(ctx, h.KID)
	if !known {
		return nil, ErrUnopened
	}
	sealed, err := jose.ParseEncryptedCompact(compact, keyAlgorithms, encryptions)
	if err != nil {
		return nil, ErrUnopened
	}
	text, err := sealed.Decrypt(key)
	if err != nil {
		return nil, ErrUnopened
	}
	return text, nil
}

// Seal returns the body that carries text encrypted to key. The client calls the key kid.
func Seal(text []byte, kid string, key *rsa.PublicKey, now time.Time) ([]byte, error) {
	to := jose.Recipient{Algorithm: jose.RSA_OAEP_256, Key: key, KeyID: kid}
	encrypter, err := jose.NewEncrypter(jose.A256GCM, to, (&jose.EncrypterOptions{}).WithHeader("iat", now.Unix()))
	if err != nil {
		return nil, fmt.Errorf("provider-b: seal: %w", err)
	}
	sealed, err := encrypter.Encrypt(text)
	if err != nil {
		return nil, fmt.Errorf("provider-b: seal: %w", err)
	}
	compact, err := sealed.CompactSerialize()
	if err != nil {
		return nil, fmt.Errorf("provider-b: seal: %w", err)
	}
	return []byte(`{"encryptedResponse":"` + compact + `"}`), nil // compact form has no character that JSON escapes
}
