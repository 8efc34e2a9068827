package secretfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/causeway-pay/causeway/shared/durable"
)

// Path is the path of the file. It implements root.Location and vault.Location.
type Path string

// String returns the path, for errors.
func (p Path) String() string { return string(p) }

// Read returns the content of the file, or fs.ErrNotExist if there is none.
func (p Path) Read(context.Context) ([]byte, error) { return os.ReadFile(string(p)) }

// Make writes the first content, whole and durably. It leaves a file that another process created
// first.
func (p Path) Make(_ context.Context, first []byte) error {
	if err := durable.CreateFile(string(p), first, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create secret: %w", err)
	}
	return nil
}

// Replace replaces the content durably. The caller holds the lock of the folder's secrets.
func (p Path) Replace(_ context.Context, _, next []byte) error {
	if err := durable.WriteFile(string(p), next, 0o600); err != nil {
		return fmt.Errorf("replace secret: %w", err)
	}
	return nil
}
