package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/shared/durable"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	// operatorFile holds the operator token for development, in the data folder.
	operatorFile = "operator-token"
	// operatorName is the name of that token in core.
	operatorName = "development"
)

// ensureOperator returns the path of the file with an operator token for development. It makes the
// token if the file does not exist, or if core rejects the token in it, because the store was
// removed.
func (m *Main) ensureOperator(ctx context.Context, v1 *core.Core) (string, error) {
	path := filepath.Join(m.data, operatorFile)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the operator token: %w", err)
	}
	valid, err := validOperator(ctx, v1, secret.New(strings.TrimSpace(string(text))))
	if err == nil && !valid {
		err = replaceOperator(ctx, v1, path)
	}
	if err != nil {
		return "", fmt.Errorf("make an operator token in %s: %w", path, err)
	}
	return path, nil
}

// validOperator reports whether core accepts the token.
func validOperator(ctx context.Context, v1 *core.Core, token secret.String) (bool, error) {
	if token.IsZero() {
		return false, nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://core/admin/v1/operators", http.NoBody)
	if err != nil {
		return false, fmt.Errorf("check the token: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+token.Reveal())
	response, err := httpx.InProcess(v1.Operations()).RoundTrip(r)
	if err != nil {
		return false, fmt.Errorf("check the token: %w", err)
	}
	_ = response.Body.Close() // only the status matters
	switch response.StatusCode {
	case http.StatusOK:
		return true, nil
	case http.StatusUnauthorized:
		return false, nil
	}
	return false, fmt.Errorf("check the token: HTTP %d", response.StatusCode)
}

// replaceOperator writes a new token. It first revokes the earlier tokens of that name: they were
// lost with the file, or their write failed.
func replaceOperator(ctx context.Context, v1 *core.Core, path string) error {
	earlier, err := v1.Admin().ListOperators(ctx)
	if err != nil {
		return err
	}
	for _, o := range earlier {
		if o.Name != operatorName || o.RevokedAt != nil {
			continue
		}
		if err := v1.Admin().RevokeOperator(ctx, o.ID); err != nil {
			return err
		}
	}
	token, err := v1.Admin().CreateOperator(ctx, operatorName, core.RoleOperator, time.Time{})
	if err != nil {
		return err
	}
	return durable.WriteFile(path, []byte(token.Reveal()+"\n"), 0o600)
}
