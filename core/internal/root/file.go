package root

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/causeway-pay/causeway/shared/durable"
)

// File is the path of a set.
type File string

// String implements Place.
func (f File) String() string { return string(f) }

// Read implements Place.
func (f File) Read(context.Context) ([]byte, error) {
	b, err := os.ReadFile(string(f))
	if err != nil {
		return nil, fmt.Errorf("read root secret: %w", err)
	}
	return b, nil
}

// Make writes the first set, whole and durably, and leaves one that another process made first.
func (f File) Make(first []byte) error {
	if err := durable.CreateFile(string(f), first, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make root secret: %w", err)
	}
	return nil
}

// Replace writes next in the place of the set. The caller holds the lock of the folder's secrets.
func (f File) Replace(next []byte) error { return durable.WriteFile(string(f), next, 0o600) }
