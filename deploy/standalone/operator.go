package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/causeway-pay/causeway/core"
)

// operatorFile holds the operator token for development, in the data folder.
const operatorFile = "operator-token"

// ensureOperator returns the path of the file with an operator token for development, and makes
// both if there is no such file.
func (m *Main) ensureOperator(ctx context.Context, v1 *core.Core) (string, error) {
	path := filepath.Join(m.data, operatorFile)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	token, err := v1.CreateOperator(ctx, "development", core.RoleOperator, time.Time{})
	if err == nil {
		err = os.WriteFile(path, []byte(token.Reveal()+"\n"), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("make an operator token in %s: %w", path, err)
	}
	return path, nil
}
