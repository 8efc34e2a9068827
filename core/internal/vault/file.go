package vault

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// KEKSize is the length of the key-encryption key in bytes.
const KEKSize = 32

// binding is the associated data of the encrypted keyset: nothing else that this key-encryption key encrypts passes for one.
var binding = []byte("causeway/vault.keyset")

// Load opens the keyset file, or makes it with one fresh key when there is none. kek is the key-encryption key, KEKSize bytes.
func Load(path string, kek []byte) (*Vault, error) {
	wrap, err := wrapping(kek)
	if err != nil {
		return nil, err
	}
	v := &Vault{path: path, kek: wrap}
	err = v.Refresh()
	if errors.Is(err, fs.ErrNotExist) {
		if err = v.make(); err == nil {
			err = v.Refresh() // what another process has made first is what counts
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

// Rewrap encrypts the keyset file by another key-encryption key, KEKSize bytes. A process that has opened the vault by the old one works
// on, but cannot see later rotations. v is not to be used after it.
func (v *Vault) Rewrap(kek []byte) error {
	wrap, err := wrapping(kek)
	if err != nil {
		return err
	}
	next := &Vault{path: v.path, kek: wrap}
	return next.write(v.current().handle, os.Rename)
}

// read decrypts the file.
func (v *Vault) read() (*keys, error) {
	b, err := os.ReadFile(v.path)
	if err != nil {
		return nil, fmt.Errorf("vault: read keyset: %w", err)
	}
	h, err := keyset.ReadWithAssociatedData(keyset.NewBinaryReader(bytes.NewReader(b)), v.kek, binding)
	if err != nil {
		return nil, fmt.Errorf("vault: %s does not open: another key-encryption key, or a damaged file", v.path)
	}
	return newKeys(h)
}

// make writes the first keyset, and yields to a process that did so first.
func (v *Vault) make() error {
	h, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return fmt.Errorf("vault: new keyset: %w", err)
	}
	return v.write(h, func(from, to string) error {
		if err := os.Link(from, to); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
}

// write makes the file durable, whole or not at all: place gives it its name.
func (v *Vault) write(h *keyset.Handle, place func(from, to string) error) error {
	var out bytes.Buffer
	if err := h.WriteWithAssociatedData(keyset.NewBinaryWriter(&out), v.kek, binding); err != nil {
		return fmt.Errorf("vault: encrypt keyset: %w", err)
	}
	dir := filepath.Dir(v.path)
	f, err := os.CreateTemp(dir, ".vault-*") // mode 0600
	if err != nil {
		return fmt.Errorf("vault: write keyset: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // a rename has taken it away already
	_, err = f.Write(out.Bytes())
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("vault: write keyset: %w", err)
	}
	if err := place(f.Name(), v.path); err != nil {
		return fmt.Errorf("vault: write keyset: %w", err)
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("vault: write keyset: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}

// AddPrimary adds a fresh key that seals from now on; the others still open. Only one process may change the file at a time.
func (v *Vault) AddPrimary() error {
	return v.change(func(m *keyset.Manager) error {
		n, err := m.Add(aead.AES256GCMKeyTemplate())
		if err != nil {
			return err
		}
		return m.SetPrimary(n)
	})
}

// DropOlder removes every key but the primary. What is still sealed by one of them is lost.
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
	if err := v.write(h, os.Rename); err != nil {
		return err
	}
	return v.Refresh()
}
