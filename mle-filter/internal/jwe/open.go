package jwe

import (
	"crypto"
	"crypto/aes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/go-jose/go-jose/v4"
	josecipher "github.com/go-jose/go-jose/v4/cipher"
)

// Message is a JWE that has passed every test that needs no key.
type Message struct {
	Header Header
	object *jose.JSONWebEncryption
	keyLen int                     // of the encrypted key, in bytes
	key    jose.OpaqueKeyDecrypter // once bound
}

// Parse reads a compact JWE and applies all rules that need no key. An error is a *Error.
func Parse(token []byte, limits Limits) (*Message, error) {
	parts, err := split(token)
	if err != nil {
		return nil, err
	}
	if decodedLen(parts[0]) > limits.Header {
		return nil, refuse(ReasonHeader, "The protected header is too large.")
	}
	text, err := base64.RawURLEncoding.DecodeString(string(parts[0]))
	if err != nil {
		return nil, refuse(ReasonEncoding, "A segment of the body is not unpadded base64url in its canonical form.")
	}
	header, err := readHeader(text)
	if err != nil {
		return nil, err
	}
	keyLen := decodedLen(parts[1])
	if !plausibleKeyLen(header.Alg, keyLen) {
		return nil, refuse(ReasonEncoding, "The encrypted key has a length that its algorithm does not give.")
	}
	if decodedLen(parts[3]) > limits.Plaintext { // GCM adds nothing but the tag
		return nil, refuse(ReasonSize, "The decrypted body would be too large.")
	}
	object, err := jose.ParseEncryptedCompact(string(token), []jose.KeyAlgorithm{jose.KeyAlgorithm(header.Alg)}, []jose.ContentEncryption{enc})
	if err != nil {
		return nil, refuse(ReasonEncoding, "The body is not a compact JWE.")
	}
	return &Message{Header: *header, object: object, keyLen: keyLen}, nil
}

func plausibleKeyLen(alg Alg, n int) bool {
	if alg == RSAOAEP256 {
		return n >= minModulus/8 && n <= maxModulus/8
	}
	return n == wrappedSize
}

// Bind ties the message to the private key that its kid names, an *rsa.PrivateKey, *ecdsa.PrivateKey or *ecdh.PrivateKey, and to the algorithm
// that key is bound to. go-jose compares no algorithms, so that is done here. An error is a *Error, or that the key is not one of its algorithm.
func (m *Message) Bind(private any, alg Alg) error {
	if m.Header.Alg != alg {
		return refuse(ReasonAlg, "The key that kid names is for another alg.")
	}
	switch key := private.(type) {
	case *rsa.PrivateKey:
		if !alg.fits(&key.PublicKey) {
			return errKey
		}
		if m.keyLen != key.Size() {
			return refuse(ReasonEncoding, "The encrypted key does not have the length of the key that kid names.")
		}
		m.key = rsaKey{key}
	case *ecdsa.PrivateKey:
		if !alg.fits(&key.PublicKey) {
			return errKey
		}
		agreed, err := key.ECDH()
		if err != nil {
			return fmt.Errorf("%w: %w", errKey, err)
		}
		m.key = agreement{agreed, &m.Header}
	case *ecdh.PrivateKey:
		if alg != ECDHESA256KW || key.Curve() != ecdh.P256() {
			return errKey
		}
		m.key = agreement{key, &m.Header}
	default:
		return errKey
	}
	return nil
}

// Open decrypts a message that is bound. There is one error, a *Error, for all that can go wrong.
func (m *Message) Open() ([]byte, error) {
	plaintext, err := m.object.Decrypt(m.key)
	if err != nil {
		return nil, errDecrypt
	}
	return plaintext, nil
}

// rsaKey is an RSA key as go-jose takes it from outside.
type rsaKey struct{ private *rsa.PrivateKey }

// DecryptKey is for go-jose. It returns no error: where the content key cannot be had it returns a random one, which fails at the tag, as RFC
// 7516 has it in section 11.5. Otherwise the time of an answer would tell a bad key from a bad tag.
func (k rsaKey) DecryptKey(encrypted []byte, _ jose.Header) ([]byte, error) {
	key, err := rsa.DecryptOAEP(sha256.New(), nil, k.private, encrypted, nil)
	return orRandom(key, err), nil
}

// agreement is an elliptic key, and what the header adds to it.
type agreement struct {
	private *ecdh.PrivateKey
	header  *Header
}

// DecryptKey is for go-jose, and like that of rsaKey.
func (a agreement) DecryptKey(encrypted []byte, _ jose.Header) ([]byte, error) {
	secret, err := a.private.ECDH(a.header.epk)
	if err != nil {
		return orRandom(nil, err), nil
	}
	block, err := aes.NewCipher(a.derive(secret))
	if err != nil {
		return orRandom(nil, err), nil
	}
	key, err := josecipher.KeyUnwrap(block, encrypted)
	return orRandom(key, err), nil
}

// derive is the Concat KDF of RFC 7518, section 4.6.2, as it is for a key that wraps a key.
func (a agreement) derive(secret []byte) []byte {
	size := make([]byte, 4)
	binary.BigEndian.PutUint32(size, cekSize*8)
	kdf := josecipher.NewConcatKDF(crypto.SHA256, secret, prefixed([]byte(ECDHESA256KW)), prefixed(a.header.apu), prefixed(a.header.apv), size, nil)
	key := make([]byte, cekSize)
	_, _ = kdf.Read(key) // it never fails
	return key
}

func prefixed(data []byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(data)), uint32(len(data))), data...) //nolint:gosec // within a header of 2 KiB
}

// orRandom returns the content key, or a random one of its size when there is none or its size is wrong. The random one is made either way.
func orRandom(key []byte, err error) []byte {
	random := make([]byte, cekSize)
	_, _ = rand.Read(random) // it never fails
	if err != nil || len(key) != cekSize {
		return random
	}
	return key
}
