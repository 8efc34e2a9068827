package auth

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
)

// maxToken bounds the length of a token. The longest tokens of clients contain a certificate.
const maxToken = 16 << 10

// The algorithms of each kind of key. A token with any other algorithm, such as "none", is rejected
// unread. A key verifies no algorithm of the other kind.
var (
	secretAlgorithms      = []jose.SignatureAlgorithm{jose.HS256, jose.HS384, jose.HS512}
	certificateAlgorithms = []jose.SignatureAlgorithm{
		jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	}
	allAlgorithms = slices.Concat(secretAlgorithms, certificateAlgorithms)
)

// tokenHeader holds the used members of a token's header. The others have no effect, not even a key
// or the address of one.
type tokenHeader struct {
	KID      string         `json:"kid"`
	X5C      []string       `json:"x5c"` // tokens of the first generation contain their certificate
	Merchant string         `json:"v-c-merchant-id"`
	Critical jsontext.Value `json:"crit"`
	text     []byte         // the whole header as it was signed
}

// token verifies a JWT of either generation and returns its caller.
func (v *Verifier) token(ctx context.Context, r Request, compact string) (Caller, error) {
	if len(compact) > maxToken {
		return Caller{}, errForm
	}
	header, err := readHeader(compact)
	if err != nil || len(header.Critical) > 0 {
		return Caller{}, errForm
	}
	signed, err := jose.ParseSignedCompact(compact, allAlgorithms)
	if err != nil {
		return Caller{}, errForm
	}
	key, err := v.keyOf(ctx, header)
	if err != nil {
		return Caller{}, err
	}
	material, ok := materialFor(key, jose.SignatureAlgorithm(signed.Signatures[0].Protected.Algorithm))
	if !ok {
		return Caller{}, errMAC
	}
	payload, err := signed.Verify(material)
	if err != nil {
		return Caller{}, errMAC
	}
	c, err := readClaims(payload)
	if err != nil {
		return Caller{}, err
	}
	if err := v.checkClaims(c, r, key, len(header.X5C) > 0); err != nil {
		return Caller{}, err
	}
	caller, err := c.caller(key, header, r, tokenEvidence(header.text, payload, r.Body))
	caller.SeveralIDs = caller.Pathless && c.Nonce == "" && v.ageOf(key.Login) > 0
	return caller, err
}

// readHeader reads the header of a token. It returns an error unless each part of the token is
// canonical base64url, so that any bytes have exactly one accepted text. The decoder ignores line
// breaks and the unused bits of a last character. Go-jose verifies the signature over a new
// encoding.
func readHeader(compact string) (h tokenHeader, err error) {
	for i, part := range strings.Split(compact, ".") {
		decoded, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil || base64.RawURLEncoding.EncodeToString(decoded) != part {
			return tokenHeader{}, errForm
		}
		if i == 0 {
			h.text = decoded
		}
	}
	err = json.Unmarshal(h.text, &h)
	return h, err
}

// keyOf finds the key that a token names. A certificate in the token only selects one of the
// registered certificates.
func (v *Verifier) keyOf(ctx context.Context, h tokenHeader) (credentials.KeyB, error) {
	key, known := credentials.KeyB{}, false
	if len(h.X5C) == 0 {
		key, known = v.cfg.Keys.ProviderBKey(ctx, h.KID)
	} else if der, err := base64.StdEncoding.DecodeString(h.X5C[0]); err == nil {
		key, known = v.cfg.Keys.ProviderBCertificate(ctx, der)
	}
	if !known {
		return credentials.KeyB{}, errUnknown
	}
	if c, now := key.Certificate, v.cfg.Clock.Now(); c != nil && (now.Before(c.NotBefore) || now.After(c.NotAfter)) {
		return credentials.KeyB{}, errUnknown
	}
	return key, nil
}

// materialFor returns the key material that verifies that algorithm, and false if the key is of
// another kind.
func materialFor(key credentials.KeyB, a jose.SignatureAlgorithm) (any, bool) {
	if key.Certificate != nil {
		return key.Certificate.PublicKey, slices.Contains(certificateAlgorithms, a)
	}
	// HMAC pads a short key with zeros. The library rejects a key shorter than the hash, which clients
	// often have, so this pads it first.
	const block = 64
	secret := []byte(key.Secret.Reveal())
	if short := block - len(secret); short > 0 {
		secret = append(secret, make([]byte, short)...)
	}
	return secret, slices.Contains(secretAlgorithms, a)
}
