package vault

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The errors of opening a sealed text.
var (
	// ErrUnknownKey: the text is sealed by a key that the keyset lacks, or that was dropped from it.
	ErrUnknownKey = errors.New("vault: sealed by an unknown key")
	// ErrNotHere: the text was not sealed for this tenant, object and field, or was changed since.
	ErrNotHere = errors.New("vault: the text was sealed for another object or field, or was changed")
	// ErrWiped: the number was removed. Its key may have been dropped since.
	ErrWiped = errors.New("vault: the number was removed")
)

// Object is the token, payment method or acquirer account that secrets belong to.
type Object struct {
	Tenant payment.Tenant
	ID     string // tok_…, pm_… or acct_…
}

// AccountObject returns the object that an account's credentials belong to.
func AccountObject(a *payment.Account) Object {
	return Object{Tenant: a.Tenant(), ID: id.Format(id.Account, a.ID)}
}

// Secrets are the hidden values of an object. A zero field means that the object has no such value.
type Secrets struct {
	Number secret.String // of the card, or of the bank account
	CVC    secret.String // of a token; SealCode and OpenCode are for it
	Token  secret.String // the value by which the client named the token
}

// The names of the fields, to which a ciphertext is bound.
const (
	fieldNumber      = "number"
	fieldCVC         = "cvc"
	fieldCredentials = "credentials"
)

// Vault seals and opens. It is safe for concurrent use.
type Vault struct {
	ctx      context.Context //nolint:containedctx // without a deadline: a store has its own time limit
	location Location
	kek      tink.AEAD

	mu   sync.RWMutex // guards keys
	keys *keys
}

// keys is one reading of the keyset.
type keys struct {
	read    []byte // the stored bytes
	handle  *keyset.Handle
	aead    tink.AEAD
	primary uint32
	known   map[uint32]bool
}

// Seal encrypts the number that an object hides.
func (v *Vault) Seal(o Object, s Secrets) (payment.Sealed, error) {
	k := v.current()
	number, err := k.seal(o, fieldNumber, s.Number)
	return payment.Sealed{Key: k.primary, Number: number}, err
}

// Open decrypts the number that was sealed for the object. It returns ErrWiped if the number was
// removed. It reads the keyset again for an unknown key, because another process may have added it.
func (v *Vault) Open(o Object, s payment.Sealed) (Secrets, error) {
	if len(s.Number) == 0 {
		return Secrets{}, ErrWiped
	}
	k, err := v.keysWith(s.Key)
	if err != nil {
		return Secrets{}, err
	}
	number, err := k.open(o, fieldNumber, s.Number)
	return Secrets{Number: number}, err
}

// SealCredentials encrypts the credentials of an acquirer account. It returns the vault's key that
// encrypted them, too.
func (v *Vault) SealCredentials(o Object, credentials secret.String) (key uint32, sealed []byte, err error) {
	k := v.current()
	sealed, err = k.seal(o, fieldCredentials, credentials)
	return k.primary, sealed, err
}

// OpenCredentials decrypts the credentials of an acquirer account. It has the errors of Open.
func (v *Vault) OpenCredentials(o Object, key uint32, sealed []byte) (secret.String, error) {
	k, err := v.keysWith(key)
	if err != nil {
		return secret.String{}, err
	}
	return k.open(o, fieldCredentials, sealed)
}

// reseal encrypts a field of an object by the primary key. It has the errors of Open.
func (v *Vault) reseal(o Object, field string, s payment.Sealed) (payment.Sealed, error) {
	old, err := v.keysWith(s.Key)
	if err != nil {
		return payment.Sealed{}, err
	}
	plain, err := old.open(o, field, s.Number)
	if err != nil {
		return payment.Sealed{}, err
	}
	k := v.current()
	sealed, err := k.seal(o, field, plain)
	return payment.Sealed{Key: k.primary, Number: sealed}, err
}

// keysWith returns the keyset that has a key, else ErrUnknownKey.
func (v *Vault) keysWith(key uint32) (*keys, error) {
	if k := v.current(); k.known[key] {
		return k, nil
	}
	if err := v.Refresh(); err != nil {
		return nil, err
	}
	if k := v.current(); k.known[key] {
		return k, nil
	}
	return nil, ErrUnknownKey
}

// Refresh reads the keyset again.
func (v *Vault) Refresh() error {
	k, err := v.read()
	if err != nil {
		return err
	}
	v.mu.Lock()
	v.keys = k
	v.mu.Unlock()
	return nil
}

// Primary returns the key that seals.
func (v *Vault) Primary() uint32 { return v.current().primary }

// Older lists the keys that only open texts, in any order.
func (v *Vault) Older() []uint32 {
	k := v.current()
	var out []uint32
	for n := range k.known {
		if n != k.primary {
			out = append(out, n)
		}
	}
	return out
}

func (v *Vault) current() *keys {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.keys
}

func newKeys(h *keyset.Handle, read []byte) (*keys, error) {
	a, err := aead.New(h)
	if err != nil {
		return nil, fmt.Errorf("vault: keyset: %w", err)
	}
	k := &keys{read: read, handle: h, aead: a, known: map[uint32]bool{}}
	info := h.KeysetInfo()
	k.primary = info.GetPrimaryKeyId()
	for _, key := range info.GetKeyInfo() {
		k.known[key.GetKeyId()] = true
	}
	return k, nil
}

func (k *keys) seal(o Object, field string, s secret.String) ([]byte, error) {
	if s.IsZero() {
		return nil, nil
	}
	sealed, err := k.aead.Encrypt([]byte(s.Reveal()), fieldBinding(o, field))
	if err != nil {
		return nil, fmt.Errorf("vault: seal %s of %s: %w", field, o.ID, err)
	}
	return sealed, nil
}

func (k *keys) open(o Object, field string, sealed []byte) (secret.String, error) {
	plain, err := k.aead.Decrypt(sealed, fieldBinding(o, field))
	if err != nil {
		return secret.String{}, fmt.Errorf("%w: %s of %s", ErrNotHere, field, o.ID)
	}
	return secret.New(string(plain)), nil
}

// fieldBinding returns the associated data, which binds a ciphertext to its object and field. No
// part contains the separator, so no two fields share their data.
func fieldBinding(o Object, field string) []byte {
	mode := "test"
	if o.Tenant.Live {
		mode = "live"
	}
	return []byte(id.Format(id.Merchant, o.Tenant.Merchant) + "/" + mode + "|" + o.ID + "|" + field)
}

// SealSmall encrypts a small secret by a key-encryption key, KEKSize bytes; OpenSmall opens it. The
// argument what names the secret: a secret of another name does not open.
func SealSmall(kek, plain []byte, what string) ([]byte, error) {
	wrap, err := wrapping(kek)
	if err != nil {
		return nil, err
	}
	return wrap.Encrypt(plain, []byte(what))
}

// OpenSmall decrypts the result of SealSmall.
func OpenSmall(kek, sealed []byte, what string) ([]byte, error) {
	wrap, err := wrapping(kek)
	if err != nil {
		return nil, err
	}
	plain, err := wrap.Decrypt(sealed, []byte(what))
	if err != nil {
		return nil, fmt.Errorf("vault: %s cannot be decrypted: "+badKEK+"row", what)
	}
	return plain, nil
}
