package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/secret"
)

// ErrCodeGone reports that a security code cannot be opened any more: it or the key of its hour no
// longer exists.
var ErrCodeGone = errors.New("vault: the security code was destroyed")

// codeKeySize is the length of an hour's key in bytes.
const codeKeySize = 32

// NewCodeKey returns a fresh key for the security codes of an hour, encrypted by the vault.
func (v *Vault) NewCodeKey(id, hour int64) (payment.CodeKey, error) {
	var key [codeKeySize]byte
	_, _ = rand.Read(key[:]) // never fails: without randomness the runtime ends the program
	return v.sealCodeKey(payment.CodeKey{ID: id, Hour: hour}, key[:])
}

// ResealCodeKey encrypts a code key by the vault's primary key. It has the errors of Open.
func (v *Vault) ResealCodeKey(k payment.CodeKey) (payment.CodeKey, error) {
	key, err := v.openCodeKey(k)
	if err != nil {
		return payment.CodeKey{}, err
	}
	return v.sealCodeKey(k, key)
}

func (v *Vault) sealCodeKey(k payment.CodeKey, key []byte) (payment.CodeKey, error) {
	current := v.current()
	sealed, err := current.aead.Encrypt(key, codeKeyBinding(k))
	if err != nil {
		return payment.CodeKey{}, fmt.Errorf("vault: seal code key: %w", err)
	}
	k.Vault, k.Sealed = current.primary, sealed
	return k, nil
}

func (v *Vault) openCodeKey(k payment.CodeKey) ([]byte, error) {
	keys, err := v.keysWith(k.Vault)
	if err != nil {
		return nil, err
	}
	key, err := keys.aead.Decrypt(k.Sealed, codeKeyBinding(k))
	if err != nil {
		return nil, fmt.Errorf("%w: the code key of hour %d", ErrNotHere, k.Hour)
	}
	return key, nil
}

// SealCode encrypts the security code of a token. Opening it needs both the hour's key and the
// token's value. The store has only a hash of the value, so the store alone cannot open a code.
// SealCode returns the errors of Open.
func (v *Vault) SealCode(o Object, k payment.CodeKey, value, code secret.String) (payment.SealedCode, error) {
	if code.IsZero() {
		return payment.SealedCode{}, nil
	}
	aead, err := v.codeAEAD(k, value)
	if err != nil {
		return payment.SealedCode{}, err
	}
	//nolint:gosec // this AEAD draws its own nonce
	return payment.SealedCode{Key: k, Text: aead.Seal(nil, nil, []byte(code.Reveal()), fieldBinding(o, fieldCVC))}, nil
}

// OpenCode decrypts the security code of a token by the token's value. It returns ErrCodeGone if
// the code or its key is gone. It returns ErrUnknownKey if a rotation of the vault has re-encrypted
// its key meanwhile, else ErrNotHere.
func (v *Vault) OpenCode(o Object, c payment.SealedCode, value secret.String) (secret.String, error) {
	if len(c.Text) == 0 || len(c.Key.Sealed) == 0 {
		return secret.String{}, ErrCodeGone
	}
	aead, err := v.codeAEAD(c.Key, value)
	if err != nil {
		return secret.String{}, err
	}
	plain, err := aead.Open(nil, nil, c.Text, fieldBinding(o, fieldCVC))
	if err != nil {
		return secret.String{}, fmt.Errorf("%w: %s of %s", ErrNotHere, fieldCVC, o.ID)
	}
	return secret.New(string(plain)), nil
}

// codeAEAD derives the key of one code.
func (v *Vault) codeAEAD(k payment.CodeKey, value secret.String) (cipher.AEAD, error) {
	key, err := v.openCodeKey(k)
	if err != nil {
		return nil, err
	}
	derived, err := hkdf.Key(sha256.New, key, nil, "causeway security code|"+value.Reveal(), codeKeySize)
	if err != nil {
		return nil, fmt.Errorf("vault: key of a code: %w", err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, fmt.Errorf("vault: key of a code: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// codeKeyBinding returns the associated data of a code key.
func codeKeyBinding(k payment.CodeKey) []byte {
	return []byte("security-code key|" + strconv.FormatInt(k.ID, 10) + "|" + strconv.FormatInt(k.Hour, 10))
}
