package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"sync"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/deploy/standalone/internal/devcreds"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// issuer creates the development merchant in core, and checks its keys by requests to v1.
type issuer struct {
	core      *core.Core
	base      string // URL of v1
	providerB func() (devcreds.ProviderB, error)
}

var _ devcreds.Issuer = issuer{}

// CreateMerchant implements devcreds.Issuer. A development merchant may try unlinked refunds.
func (i issuer) CreateMerchant(ctx context.Context, name string) (string, error) {
	merchant, err := i.core.Admin().CreateMerchant(ctx, name)
	if err != nil {
		return "", err
	}
	return merchant, i.core.Admin().SetUnlinkedRefunds(ctx, merchant, true)
}

// CreateKey implements devcreds.Issuer.
func (i issuer) CreateKey(ctx context.Context, merchant, mode, kind string) (secret.String, error) {
	return i.core.Admin().CreateKey(ctx, core.KeySpec{Merchant: merchant, Mode: mode, Kind: kind})
}

// Valid implements devcreds.Issuer.
func (i issuer) Valid(ctx context.Context, key secret.String) (bool, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, i.base+"/v1/api_keys/current", http.NoBody)
	if err != nil {
		return false, fmt.Errorf("check an API key: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+key.Reveal())
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return false, fmt.Errorf("check an API key: %w", err)
	}
	_ = response.Body.Close() // only the status matters
	switch response.StatusCode {
	case http.StatusOK, http.StatusForbidden: // 403: a valid key without the scope to read itself
		return true, nil
	case http.StatusUnauthorized:
		return false, nil
	}
	return false, fmt.Errorf("check an API key: HTTP %d", response.StatusCode)
}

// ProviderB implements devcreds.Issuer.
func (i issuer) ProviderB() (devcreds.ProviderB, error) { return i.providerB() }

// loginB returns a function that makes a login of provider-b. Its keys take the longest part of a
// first start, so loginB starts making them immediately on a first start.
func (m *Main) loginB(first bool) func() (devcreds.ProviderB, error) {
	result := sync.OnceValues(func() (devcreds.ProviderB, error) { return newProviderB(m.clock) })
	if first {
		go func() { _, _ = result() }() // the caller of the returned function gets the error
	}
	return result
}

// newProviderB makes a login of provider-b under a random merchant id.
func newProviderB(c clock.Clock) (devcreds.ProviderB, error) {
	merchant := "dev_" + strings.ToLower(rand.Text()[:10])
	k, err := compatproxy.NewProviderBKeys(merchant, c.Now())
	return devcreds.ProviderB{
		MerchantID: merchant, KeyID: k.KeyID, SharedSecret: k.SharedSecret, P12: k.P12, P12Password: k.P12Password,
		Certificate: k.Certificate, EncryptionKey: k.EncryptionKey, EncryptionCertificate: k.EncryptionCertificate,
	}, err
}
