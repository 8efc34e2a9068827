package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/causeway-pay/causeway/shared/durable"
)

// File is a keyset's path.
type File string

// String implements Place.
func (f File) String() string { return string(f) }

// Read implements Place.
func (f File) Read() ([]byte, error) { return os.ReadFile(string(f)) }

// Make implements Place.
func (f File) Make(next []byte) error {
	if err := durable.CreateFile(string(f), next, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("vault: write keyset: %w", err)
	}
	return nil
}

// Replace implements Place. The caller holds the lock of the keyset.
func (f File) Replace(_, next []byte) error {
	if err := durable.WriteFile(string(f), next, 0o600); err != nil {
		return fmt.Errorf("vault: write keyset: %w", err)
	}
	return nil
}
