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

// Message is a JWE that has passed all checks without a key.
type Message struct {
	Header Header
	token  []byte // as received
	object *jose.JSONWebEncryption
	keyLen int                     // of the encrypted key, in bytes
	key    jose.OpaqueKeyDecrypter // nil before Bind
}

// Bind assigns the private key that kid names: an *rsa.PrivateKey, *ecdsa.PrivateKey or
// *ecdh.PrivateKey. It compares the message's algorithm with alg, the key's algorithm, because
// go-jose does not. The error is an *Error, or reports that the key does not fit its algorithm.
func (m *Message) Bind(private any, alg Alg) error {
	if m.Header.Alg != alg {
		return refuse(ReasonAlg, "The key that kid names is for another alg. Use its alg.")
	}
	switch key := private.(type) {
	case *rsa.PrivateKey:
		if !alg.fits(&key.PublicKey) {
			return errKey
		}
		if m.keyLen != key.Size() {
			return refuse(ReasonEncoding,
				"The encrypted key does not have the length of the key that kid names. Encrypt to that key.")
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

// Decrypt decrypts a bound message. It returns the same *Error for every fault.
func (m *Message) Decrypt() ([]byte, error) {
	key := contentKey{from: m.key}
	defer key.wipe()
	return m.decrypt(&key)
}

// DecryptDerive is Decrypt for a message whose response is encrypted under a key that is derived
// from the message.
func (m *Message) DecryptDerive() ([]byte, *ResponseKey, error) {
	key := contentKey{from: m.key}
	defer key.wipe()
	plaintext, err := m.decrypt(&key)
	if err != nil {
		return nil, nil, err
	}
	response, err := newResponseKey(key.bytes, m.Header.KID, m.token)
	if err != nil {
		return nil, nil, err
	}
	return plaintext, response, nil
}

func (m *Message) decrypt(key *contentKey) ([]byte, error) {
	plaintext, err := m.object.Decrypt(key)
	if err != nil {
		return nil, errDecrypt
	}
	return plaintext, nil
}

// contentKey keeps the content key of a message during its decryption.
type contentKey struct {
	from  jose.OpaqueKeyDecrypter
	bytes []byte
}

// DecryptKey implements jose.OpaqueKeyDecrypter.
func (k *contentKey) DecryptKey(encrypted []byte, header jose.Header) (key []byte, err error) {
	k.bytes, err = k.from.DecryptKey(encrypted, header)
	return k.bytes, err
}

func (k *contentKey) wipe() { clear(k.bytes) }

// rsaKey is an RSA key for go-jose's interface of external keys.
type rsaKey struct{ private *rsa.PrivateKey }

// DecryptKey implements jose.OpaqueKeyDecrypter. It returns no error. If the content key cannot be
// decrypted, it returns a random one, which then fails at the tag, as in RFC 7516, section 11.5.
// Otherwise the response time would distinguish a wrong key from a wrong tag.
func (k rsaKey) DecryptKey(encrypted []byte, _ jose.Header) ([]byte, error) {
	key, err := rsa.DecryptOAEP(sha256.New(), nil, k.private, encrypted, nil)
	return orRandom(key, err), nil
}

// agreement is a P-256 key with the members of the header for the key agreement.
type agreement struct {
	private *ecdh.PrivateKey
	header  *Header
}

// DecryptKey implements jose.OpaqueKeyDecrypter, with the same result for a wrong key as rsaKey.
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

// derive is the Concat KDF of RFC 7518, section 4.6.2, for a key that encrypts a key. The result
// has the length of the hash, so one round is enough.
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

// orRandom returns the content key, or a random one if there is none or its size is wrong. It
// always makes the random one, so that the time is the same.
func orRandom(key []byte, err error) []byte {
	random := make([]byte, cekSize)
	_, _ = rand.Read(random) // it never fails
	if err != nil || len(key) != cekSize {
		return random
	}
	return key
}
