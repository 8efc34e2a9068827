package jwe

import (
	"crypto/aes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
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

// Bind ties the message to the private key that its kid names, an *rsa.PrivateKey,
// *ecdsa.PrivateKey or *ecdh.PrivateKey. It also checks the algorithm that the key is bound to,
// because go-jose compares no algorithms. An error is a *Error, or reports that the key does not
// fit its algorithm.
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

// DecryptKey is for go-jose. It returns no error. If the content key cannot be decrypted, it
// returns a random one, which fails at the tag, as RFC 7516 has it in section 11.5. Otherwise the
// time of a response would distinguish a bad key from a bad tag.
func (k rsaKey) DecryptKey(encrypted []byte, _ jose.Header) ([]byte, error) {
	key, err := rsa.DecryptOAEP(sha256.New(), nil, k.private, encrypted, nil)
	return orRandom(key, err), nil
}

// agreement is an elliptic key, and the header's additions to it.
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
	kek := a.derive(secret)
	block, err := aes.NewCipher(kek[:])
	if err != nil {
		return orRandom(nil, err), nil
	}
	key, err := josecipher.KeyUnwrap(block, encrypted)
	return orRandom(key, err), nil
}

// derive is the Concat KDF of RFC 7518, section 4.6.2, for a key that wraps a key. The result is as
// long as the hash, so there is one round.
func (a agreement) derive(secret []byte) [sha256.Size]byte {
	info := make([]byte, 0, 128)
	info = binary.BigEndian.AppendUint32(info, 1)
	info = append(info, secret...)
	for _, part := range []string{string(ECDHESA256KW), string(a.header.apu), string(a.header.apv)} {
		info = binary.BigEndian.AppendUint32(info, uint32(len(part))) //nolint:gosec // parts of a bounded header
		info = append(info, part...)
	}
	return sha256.Sum256(binary.BigEndian.AppendUint32(info, sha256.Size*8))
}

// orRandom returns the content key, or a random one of its size when there is none or its size is
// wrong. The random one is made either way.
func orRandom(key []byte, err error) []byte {
	random := make([]byte, cekSize)
	_, _ = rand.Read(random) // it never fails
	if err != nil || len(key) != cekSize {
		return random
	}
	return key
}
