package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/deploy/standalone/internal/devcreds"
	"github.com/causeway-pay/causeway/deploy/standalone/internal/durable"
	"github.com/causeway-pay/causeway/shared/secret"
)

// issuer makes the development merchant in the core, and asks v1 itself which keys it lets in.
type issuer struct {
	core *core.Core
	base string // URL of v1
}

var _ devcreds.Issuer = issuer{}

// CreateMerchant implements devcreds.Issuer. A development merchant may try unlinked refunds.
func (i issuer) CreateMerchant(ctx context.Context, name string) (string, error) {
	merchant, err := i.core.CreateMerchant(ctx, name)
	if err != nil {
		return "", err
	}
	return merchant, i.core.SetUnlinkedRefunds(ctx, merchant, true)
}

// CreateKey implements devcreds.Issuer.
func (i issuer) CreateKey(ctx context.Context, merchant, mode, kind string) (secret.String, error) {
	return i.core.CreateKey(ctx, core.KeySpec{Merchant: merchant, Mode: mode, Kind: kind})
}

// Valid implements devcreds.Issuer.
func (i issuer) Valid(ctx context.Context, key secret.String) (bool, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, i.base+"/v1/api_keys/current", http.NoBody)
	if err != nil {
		return false, fmt.Errorf("ask for a key: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+key.Reveal())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return false, fmt.Errorf("ask for a key: %w", err)
	}
	_ = answer.Body.Close() // only the status matters
	switch answer.StatusCode {
	case http.StatusOK, http.StatusForbidden: // known, though perhaps not allowed to read about itself
		return true, nil
	case http.StatusUnauthorized:
		return false, nil
	}
	return false, fmt.Errorf("ask for a key: HTTP %d", answer.StatusCode)
}

// writeLogins keeps the proxy's credentials file at path in step with c.
func writeLogins(path string, c *devcreds.Credentials) error {
	var b bytes.Buffer
	b.WriteString("# Made by standalone at every start, from credentials.json. Edits are lost.\nprovider_a:\n")
	for _, line := range []struct{ key, value string }{
		{"  - name", c.ProviderA.Name},
		{"    transaction_key", c.ProviderA.TransactionKey.Reveal()},
		{"    api_key", c.Keys.SKTest.Reveal()},
	} {
		b.WriteString(line.key + ": " + strconv.Quote(line.value) + "\n")
	}
	if got, err := os.ReadFile(path); err == nil && bytes.Equal(got, b.Bytes()) {
		return nil
	}
	if err := durable.WriteFile(path, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("keep the legacy logins: %w", err)
	}
	return nil
}
