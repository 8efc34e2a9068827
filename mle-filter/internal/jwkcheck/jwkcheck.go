package jwkcheck

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
)

// maxSize is the longest JWK in bytes. An RSA key of 4096 bits has about 800.
const maxSize = 8 << 10

// MemberError reports why a JWK is rejected. Its texts contain nothing of the JWK.
type MemberError struct {
	Member  string // of the JWK; "" for the whole JWK
	Message string
}

func (f *MemberError) Error() string { return "jwk: " + f.Member + ": " + f.Message }

func refuse(member, message string) error { return &MemberError{member, message} }

// members are the allowed members of a public JWK for encryption. Browsers add ext.
type members struct {
	Kty    string    `json:"kty"`
	Use    *string   `json:"use"`
	KeyOps *[]string `json:"key_ops"`
	Alg    *string   `json:"alg"`
	Kid    *string   `json:"kid"`
	Crv    string    `json:"crv"`
	X      string    `json:"x"`
	Y      string    `json:"y"`
	N      string    `json:"n"`
	E      string    `json:"e"`
	Ext    bool      `json:"ext"`
}

// Parse parses a public JWK. Every error is a *MemberError. The key has its algorithm, the use
// "enc", and as its id the result of thumbprint, which must be the RFC 7638 thumbprint.
func Parse(text []byte, thumbprint func(jose.JSONWebKey) (string, error)) (jose.JSONWebKey, engine.Alg, error) {
	var none jose.JSONWebKey
	m, err := read(text)
	if err != nil {
		return none, "", err
	}
	alg, key, err := m.key()
	if err != nil {
		return none, "", err
	}
	if err := m.purpose(alg); err != nil {
		return none, "", err
	}
	out := jose.JSONWebKey{Key: key, Algorithm: string(alg), Use: "enc"}
	if out.KeyID, err = thumbprint(out); err != nil {
		return none, "", err
	}
	if m.Kid != nil && *m.Kid != out.KeyID {
		return none, "", refuse("kid",
			"The kid must be the RFC 7638 thumbprint of the key by SHA-256. Omit it to have it computed.")
	}
	return out, alg, nil
}

func read(text []byte) (*members, error) {
	if len(text) > maxSize {
		return nil, refuse("", "The JWK is larger than 8 KiB.")
	}
	if jsontext.Value(text).Kind() != '{' {
		return nil, refuse("", "A JWK is a JSON object.")
	}
	m := &members{}
	err := json.Unmarshal(text, m, json.RejectUnknownMembers(true))
	var e *json.SemanticError
	switch {
	case err == nil:
		return m, nil
	case errors.As(err, &e) && errors.Is(e.Err, json.ErrUnknownName):
		return nil, strange(e.JSONPointer.LastToken())
	case errors.As(err, &e):
		return nil, refuse(e.JSONPointer.LastToken(), "The member has the wrong type.")
	}
	return nil, refuse("", "The JWK is not a JSON object without repeated members.")
}

// strange rejects members that a public key does not have. Its error names the members of a private
// key, so that a client that sends one by mistake notices.
func strange(name string) error {
	switch name {
	case "d", "p", "q", "dp", "dq", "qi", "oth", "k":
		return refuse(name, "This is a private or a secret key, which you must not share. Make another one, and "+
			"send its public half.")
	case "x5u", "x5c", "x5t", "x5t#S256":
		return refuse(name, "Certificates are not supported. Send only the key.")
	}
	return refuse(name, "A public key for encryption has no such member.")
}

// key checks the key itself.
func (m *members) key() (engine.Alg, any, error) {
	switch {
	case m.Kty == "oct":
		return "", nil, refuse("kty", "A symmetric key cannot be registered.")
	case m.Kty != "EC" && m.Kty != "RSA":
		return "", nil, refuse("kty", "The kty must be \"EC\", on P-256, or \"RSA\".")
	case m.Kty == "EC" && m.Crv != "P-256":
		return "", nil, refuse("crv", "The curve must be P-256.")
	case m.Kty == "EC" && (m.N != "" || m.E != ""), m.Kty == "RSA" && (m.Crv != "" || m.X != "" || m.Y != ""):
		return "", nil, refuse("kty", "The JWK mixes the members of EC and RSA.")
	case large(m.E):
		return "", nil, refuse("e", "The exponent must be less than 2^31. 65537 is usual.")
	}
	if err := m.plain(); err != nil {
		return "", nil, err
	}
	if m.Kty == "RSA" && small(m.E) {
		return "", nil, refuse("e", badExponent)
	}
	var jwk jose.JSONWebKey
	if err := jwk.UnmarshalJSON(m.bare()); err != nil {
		if m.Kty == "EC" {
			return "", nil, refuse("x", "x and y are not a point on P-256, in base64url of 32 bytes each.")
		}
		return "", nil, refuse("n", "n and e are not an RSA key of at most 4096 bits, in base64url.")
	}
	switch key := jwk.Key.(type) {
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return "", nil, refuse("crv", "The curve must be P-256.")
		}
		if _, err := key.ECDH(); err != nil { // rejects a point off the curve or at infinity
			return "", nil, refuse("x", "x and y are not a point on P-256, in base64url of 32 bytes each.")
		}
		return engine.ECDHESA256KW, key, nil
	case *rsa.PublicKey:
		return engine.RSAOAEP256, key, checkRSA(key)
	}
	return "", nil, refuse("kty", "The kty must be \"EC\", on P-256, or \"RSA\".")
}

// plain rejects numbers that are not in the form of RFC 7518. go-jose ignores line breaks, unused
// bits and leading zeros. A client that computes the key's id from its own text would then get
// another id.
func (m *members) plain() error {
	for _, number := range []struct{ name, text string }{{"x", m.X}, {"y", m.Y}, {"n", m.N}, {"e", m.E}} {
		value, err := base64.RawURLEncoding.Strict().DecodeString(number.text)
		if err != nil || base64.RawURLEncoding.EncodedLen(len(value)) != len(number.text) {
			return refuse(number.name,
				"The member is not plain base64url: without padding, white space, line breaks, and stray bits in the last "+
					"character.")
		}
		if m.Kty == "RSA" && len(value) > 0 && value[0] == 0 {
			return refuse(number.name, "The number has a leading zero byte, which RFC 7518 does not allow.")
		}
	}
	return nil
}

// bare returns the key with only the members of the key material.
func (m *members) bare() []byte {
	fields := map[string]string{"kty": m.Kty}
	if m.Kty == "EC" {
		fields["crv"], fields["x"], fields["y"] = m.Crv, m.X, m.Y
	} else {
		fields["n"], fields["e"] = m.N, m.E
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return nil // text that was read is text that can be written
	}
	return b
}

// purpose checks the stated purpose of the key.
func (m *members) purpose(alg engine.Alg) error {
	if m.Use != nil && *m.Use != "enc" {
		return refuse("use", "The use must be \"enc\", or omitted.")
	}
	if m.Alg != nil && *m.Alg != string(alg) {
		return refuse("alg", "A key of this kind is for \""+string(alg)+"\". Name that, or leave it out.")
	}
	if m.KeyOps == nil {
		return nil
	}
	allowed := map[string]bool{"encrypt": true, "wrapKey": true}
	if alg == engine.ECDHESA256KW {
		allowed = map[string]bool{"deriveKey": true, "deriveBits": true} // a public key may have none
	}
	for _, op := range *m.KeyOps {
		if !allowed[op] {
			return refuse("key_ops", "The operations must be operations of a public key for encryption.")
		}
	}
	return nil
}
