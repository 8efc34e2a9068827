package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a keyset's path.
type File string

// String implements Place.
func (f File) String() string { return string(f) }

// Read implements Place.
func (f File) Read() ([]byte, error) { return os.ReadFile(string(f)) }

// Make implements Place.
func (f File) Make(next []byte) error {
	return f.write(next, func(from, to string) error {
		if err := os.Link(from, to); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
}

// Replace implements Place. The caller holds the lock of the keyset.
func (f File) Replace(_, next []byte) error { return f.write(next, os.Rename) }

// write makes the file durable, whole or not at all: place gives it its name.
func (f File) write(b []byte, place func(from, to string) error) error {
	dir := filepath.Dir(string(f))
	tmp, err := os.CreateTemp(dir, ".vault-*") // mode 0600
	if err != nil {
		return fmt.Errorf("vault: write keyset: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // a rename has taken it away already
	_, err = tmp.Write(b)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("vault: write keyset: %w", err)
	}
	if err := place(tmp.Name(), string(f)); err != nil {
		return fmt.Errorf("vault: write keyset: %w", err)
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("vault: write keyset: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}
