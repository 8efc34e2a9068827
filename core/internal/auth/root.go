package auth

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// rootSize is the length of the root secret in bytes.
const rootSize = 32

// Root is the secret all keyed hashes of one data folder derive from.
type Root struct{ secret []byte }

// ReadRoot reads the root secret from the file. The error is fs.ErrNotExist when there is none.
func ReadRoot(path string) (Root, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Root{}, fmt.Errorf("read root secret: %w", err)
	}
	return newRoot(path, b)
}

// LoadRoot reads the root secret from the file, or makes it when there is none. Losing it makes every API key invalid: make none where one
// must have been.
func LoadRoot(path string) (Root, error) {
	r, err := ReadRoot(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	b, err := makeRoot(path)
	if err != nil {
		return Root{}, fmt.Errorf("make root secret: %w", err)
	}
	return newRoot(path, b)
}

// MakeRoot returns a fresh root secret, and its bytes to be kept.
func MakeRoot() (Root, []byte, error) {
	b := make([]byte, rootSize)
	if _, err := rand.Read(b); err != nil {
		return Root{}, nil, fmt.Errorf("make root secret: %w", err)
	}
	return Root{b}, b, nil
}

// RootOf is the root secret of its bytes, which were kept in a place.
func RootOf(place string, b []byte) (Root, error) { return newRoot(place, b) }

func newRoot(path string, b []byte) (Root, error) {
	if len(b) != rootSize {
		return Root{}, fmt.Errorf("root secret %s: %d bytes, want %d", path, len(b), rootSize)
	}
	return Root{b}, nil
}

// makeRoot writes the file whole or not at all, and yields to a process that did so first.
func makeRoot(path string) ([]byte, error) {
	b := make([]byte, rootSize)
	if _, err := rand.Read(b); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".root-*") // mode 0600
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(f.Name()) }() // the link below is what stays
	_, err = f.Write(b)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return os.ReadFile(path)
	} else if err != nil {
		return nil, err
	}
	return b, syncDir(filepath.Dir(path))
}

// syncDir makes a new name in the folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Key derives the key for one purpose, 32 bytes. Purposes never share a key.
func (r Root) Key(purpose string) ([]byte, error) {
	k, err := hkdf.Key(sha256.New, r.secret, nil, "causeway/"+purpose, 32)
	if err != nil {
		return nil, fmt.Errorf("derive %s key: %w", purpose, err)
	}
	return k, nil
}
