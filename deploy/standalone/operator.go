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
	"github.com/causeway-pay/causeway/shared/durable"
)

// operatorFile holds the operator token for development, in the data folder.
const operatorFile = "operator-token"

// ensureOperator returns the path of the file with an operator token for development. It makes both
// if the file does not exist or is empty: a crash during a write can leave an empty file.
func (m *Main) ensureOperator(ctx context.Context, v1 *core.Core) (string, error) {
	path := filepath.Join(m.data, operatorFile)
	switch info, err := os.Stat(path); {
	case err == nil && info.Size() > 0:
		return path, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("read the operator token: %w", err)
	}
	token, err := v1.Admin().CreateOperator(ctx, "development", core.RoleOperator, time.Time{})
	if err == nil {
		err = durable.WriteFile(path, []byte(token.Reveal()+"\n"), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("make an operator token in %s: %w", path, err)
	}
	return path, nil
}
