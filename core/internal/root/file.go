package root

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
	dir := filepath.Dir(string(f))
	tmp, err := os.CreateTemp(dir, ".root-*") // mode 0600
	if err != nil {
		return fmt.Errorf("make root secret: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // the link below is what stays
	_, err = tmp.Write(first)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Link(tmp.Name(), string(f))
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make root secret: %w", err)
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("make root secret: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}

// Replace writes next in the place of the set. The caller holds the lock of the folder's secrets.
func (f File) Replace(next []byte) error { return durable.WriteFile(string(f), next, 0o600) }
