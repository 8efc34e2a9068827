package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// KEKSize is the length of the key-encryption key in bytes.
const KEKSize = 32

// binding is the associated data of the encrypted keyset. So no other ciphertext of this
// key-encryption key can replace it.
var binding = []byte("causeway/vault.keyset")

// badKEK is the remedy for a secret that the key-encryption key does not decrypt.
const badKEK = "set the key-encryption key that encrypted it, or restore the "

// ErrKEK reports a keyset that the key-encryption key does not decrypt.
var ErrKEK = errors.New("vault: the keyset is encrypted by another key-encryption key")

// Location is where the encrypted keyset is stored.
type Location interface {
	// Read returns it, fs.ErrNotExist when there is none.
	Read(ctx context.Context) ([]byte, error)
	// Make writes the first value durably. It does nothing if there is a value already.
	Make(ctx context.Context, first []byte) error
	// Replace durably replaces the value that was read by next.
	Replace(ctx context.Context, was, next []byte) error
	// String returns the location, for errors.
	String() string
}

// Load opens the keyset of a location. If there is none, it makes one with one fresh key. kek is
// the key-encryption key, KEKSize bytes.
func Load(ctx context.Context, location Location, kek []byte) (*Vault, error) {
	wrap, err := wrapping(kek)
	if err != nil {
		return nil, err
	}
	v := &Vault{ctx: context.WithoutCancel(ctx), location: location, kek: wrap}
	err = v.Refresh()
	if errors.Is(err, fs.ErrNotExist) {
		if err = v.make(); err == nil {
			err = v.Refresh() // the keyset of the first process is used
		}
	}
	return v, err
}

func wrapping(kek []byte) (tink.AEAD, error) {
	if len(kek) != KEKSize {
		return nil, fmt.Errorf("vault: the key-encryption key has %d bytes, want %d", len(kek), KEKSize)
	}
	wrap, err := subtle.NewAESGCM(kek)
	if err != nil {
		return nil, fmt.Errorf("vault: key-encryption key: %w", err)
	}
	return wrap, nil
}

// Rewrap encrypts the keyset by another key-encryption key, KEKSize bytes. A process that has
// opened the vault by the old key continues, but cannot read later rotations. Do not use v after
// Rewrap.
func (v *Vault) Rewrap(kek []byte) error {
	wrap, err := wrapping(kek)
	if err != nil {
		return err
	}
	was := v.current()
	next, err := encrypt(was.handle, wrap)
	if err != nil {
		return err
	}
	return v.location.Replace(v.ctx, was.read, next)
}

// Reencrypt encrypts a stored keyset by another key-encryption key.
func Reencrypt(kept, old, kek []byte) ([]byte, error) {
	from, err := wrapping(old)
	if err != nil {
		return nil, err
	}
	to, err := wrapping(kek)
	if err != nil {
		return nil, err
	}
	h, err := keyset.ReadWithAssociatedData(keyset.NewBinaryReader(bytes.NewReader(kept)), from, binding)
	if err != nil {
		return nil, errors.New("vault: the keyset cannot be decrypted: " + badKEK + "row")
	}
	return encrypt(h, to)
}

// read decrypts the keyset.
func (v *Vault) read() (*keys, error) {
	b, err := v.location.Read(v.ctx)
	if err != nil {
		return nil, fmt.Errorf("vault: read keyset: %w", err)
	}
	h, err := keyset.ReadWithAssociatedData(keyset.NewBinaryReader(bytes.NewReader(b)), v.kek, binding)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.location, ErrKEK)
	}
	return newKeys(h, b)
}

// make writes the first keyset, unless another process has written one.
func (v *Vault) make() error {
	h, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return fmt.Errorf("vault: new keyset: %w", err)
	}
	first, err := encrypt(h, v.kek)
	if err != nil {
		return err
	}
	return v.location.Make(v.ctx, first)
}

func encrypt(h *keyset.Handle, by tink.AEAD) ([]byte, error) {
	var out bytes.Buffer
	if err := h.WriteWithAssociatedData(keyset.NewBinaryWriter(&out), by, binding); err != nil {
		return nil, fmt.Errorf("vault: encrypt keyset: %w", err)
	}
	return out.Bytes(), nil
}

// AddPrimary adds a fresh key that seals from now on; the others still open. Only one process may
// change the keyset at a time.
func (v *Vault) AddPrimary() error {
	return v.change(func(m *keyset.Manager) error {
		n, err := m.Add(aead.AES256GCMKeyTemplate())
		if err != nil {
			return err
		}
		return m.SetPrimary(n)
	})
}

// DropOlder removes every key except the primary. Texts that are still sealed by one of them are
// lost.
func (v *Vault) DropOlder() error {
	older := v.Older()
	return v.change(func(m *keyset.Manager) error {
		for _, n := range older {
			if err := m.Delete(n); err != nil {
				return err
			}
		}
		return nil
	})
}

func (v *Vault) change(fn func(*keyset.Manager) error) error {
	m := keyset.NewManagerFromHandle(v.current().handle)
	if err := fn(m); err != nil {
		return fmt.Errorf("vault: change keyset: %w", err)
	}
	h, err := m.Handle()
	if err != nil {
		return fmt.Errorf("vault: change keyset: %w", err)
	}
	next, err := encrypt(h, v.kek)
	if err != nil {
		return err
	}
	if err := v.location.Replace(v.ctx, v.current().read, next); err != nil {
		return err
	}
	return v.Refresh()
}
