package kinds

import (
	"time"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providera"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providerb"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/core/internal/operator"
)

// All returns all kinds by name.
func All() account.Kinds {
	return account.Kinds{"provider-a": openProviderA, "provider-b": openProviderB}
}

// openProviderA opens an account of Authorize.Net.
func openProviderA(s account.Settings) (account.Connector, error) {
	read := s.Reader()
	cfg := providera.Config{Name: read.Text("name"), TransactionKey: read.Secret("transaction_key"), Clock: s.Clock}
	if err := read.Err(); err != nil {
		return nil, err
	}
	host, err := upstream.New(upstream.Config{BaseURL: s.BaseURL})
	if err != nil {
		return nil, wrong("base_url", err)
	}
	cfg.Upstream = host
	c, err := providera.New(cfg)
	return c, wrong("settings", err)
}

// settleUnknownAfter is the default of the setting of that name.
const settleUnknownAfter = 24 * time.Hour

// openProviderB opens an account of CyberSource.
func openProviderB(s account.Settings) (account.Connector, error) {
	read := s.Reader()
	cfg := providerb.Config{
		MerchantID: read.Text("merchant_id"), KeyID: read.Text("key_id"), SharedSecret: read.Secret("shared_secret"),
		Auth:               read.Choice("auth", providerb.AuthSignature, providerb.AuthJWT),
		SettleUnknownAfter: read.Duration("settle_unknown_after", settleUnknownAfter), Clock: s.Clock,
	}
	if err := read.Err(); err != nil {
		return nil, err
	}
	host, err := upstream.New(upstream.Config{BaseURL: s.BaseURL})
	if err != nil {
		return nil, wrong("base_url", err)
	}
	cfg.Upstream = host
	c, err := providerb.New(cfg)
	return c, wrong("settings", err)
}

// wrong returns the error of a setting, nil for none.
func wrong(field string, err error) error {
	if err == nil {
		return nil
	}
	return &operator.FieldError{Field: field, Text: err.Error()}
}
