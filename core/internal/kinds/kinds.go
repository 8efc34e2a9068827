package kinds

import (
	"time"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providera"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providerb"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
)

// settleUnknownAfter is the default age at which an operation that provider-b cannot find has
// certainly had no effect.
const settleUnknownAfter = 24 * time.Hour

// All returns all kinds by name.
func All() account.Kinds {
	return account.Kinds{"provider-a": {Open: providerA, CapturesOnce: true}, "provider-b": {Open: providerB}}
}

// providerA opens an account at provider-a: the setting name, and the credential transaction_key.
func providerA(s account.Settings) (account.Connector, error) {
	r := s.Reader()
	cfg := providera.Config{Name: r.Text("name"), TransactionKey: r.Secret("transaction_key"), Clock: s.Clock}
	if err := r.Err(); err != nil {
		return nil, err
	}
	var err error
	if cfg.Upstream, err = upstream.New(upstream.Config{BaseURL: s.BaseURL}); err != nil {
		return nil, err
	}
	return providera.New(cfg)
}

// providerB opens an account at provider-b: the settings merchant_id, auth and
// settle_unknown_after, and the credentials key_id and shared_secret.
func providerB(s account.Settings) (account.Connector, error) {
	r := s.Reader()
	cfg := providerb.Config{
		MerchantID: r.Text("merchant_id"), Auth: r.Choice("auth", providerb.AuthSignature, providerb.AuthJWT),
		SettleUnknownAfter: r.Duration("settle_unknown_after", settleUnknownAfter),
		KeyID:              r.Secret("key_id").Reveal(), SharedSecret: r.Secret("shared_secret"),
		Clock: s.Clock, Missing: s.Missing,
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	var err error
	if cfg.Upstream, err = upstream.New(upstream.Config{BaseURL: s.BaseURL}); err != nil {
		return nil, err
	}
	return providerb.New(cfg)
}
