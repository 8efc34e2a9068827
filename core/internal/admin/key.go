package admin

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// KeySpec describes a new API key.
type KeySpec struct {
	Merchant string   // mer_…
	Mode     string   // test or live
	Kind     string   // secret or publishable
	Scopes   []string // nil for all that the kind may have
	Name     string   // for people, "" for none

	Restrictions
}

// Restrictions are the client addresses and web origins to which a key is limited. An empty list
// allows all. In a roll, nil stands for the list of the old key.
type Restrictions struct {
	Addresses []string // IP addresses, and networks in CIDR form
	Origins   []string // of web pages, for a publishable key
}

// parse returns the addresses, and an error for a list that no key can have.
func (r Restrictions) parse() ([]netip.Prefix, error) {
	if !apikey.CheckOrigins(r.Origins) {
		return nil, errors.New("origins: want " + apikey.WantOrigins)
	}
	if r.Addresses == nil {
		return nil, nil
	}
	addresses, ok := apikey.ParseAddresses(r.Addresses)
	if !ok {
		return nil, errors.New("addresses: want " + apikey.WantAddresses)
	}
	return addresses, nil
}

// CreateKey creates an API key. The secret is returned once and never again.
func (a *Admin) CreateKey(ctx context.Context, s KeySpec) (secret.String, error) {
	merchant, err := id.Parse(id.Merchant, s.Merchant)
	if err != nil {
		return secret.String{}, fmt.Errorf("merchant %q: %w", s.Merchant, err)
	}
	if s.Mode != string(apikey.Test) && s.Mode != string(apikey.Live) {
		return secret.String{}, fmt.Errorf("mode %q: want test or live", s.Mode)
	}
	if utf8.RuneCountInString(s.Name) > 100 {
		return secret.String{}, fmt.Errorf("name: want at most 100 characters, got %d", utf8.RuneCountInString(s.Name))
	}
	if err := checkText("key's name", s.Name); err != nil {
		return secret.String{}, err
	}
	addresses, err := s.parse()
	if err != nil {
		return secret.String{}, err
	}
	var made secret.String
	err = a.act(ctx, "api_keys.create", s.Merchant, func(r engine.Request) error {
		tenant := payment.Tenant{Merchant: merchant, Live: s.Mode == string(apikey.Live)}
		wanted := engine.NewKey{
			Kind: apikey.Kind(s.Kind), Scopes: s.Scopes, Name: s.Name, Addresses: addresses, Origins: s.Origins,
		}
		result, err := a.engine().CreateKey(ctx, r, tenant, engine.Unlimited(), wanted)
		if errors.Is(err, payment.ErrNotFound) {
			return fmt.Errorf("merchant %s does not exist: see core merchants list", s.Merchant)
		}
		made = result.Credential
		return err
	})
	return made, err
}

// ListKeys returns all API keys of a merchant in both modes, newest first, ended keys included.
func (a *Admin) ListKeys(ctx context.Context, merchant string) ([]v1.APIKey, error) {
	n, err := id.Parse(id.Merchant, merchant)
	if err != nil {
		return nil, fmt.Errorf("merchant %q: %w", merchant, err)
	}
	var out []v1.APIKey
	p := payment.Page{Limit: 100}
	for more := true; more; {
		found, err := a.db.MerchantKeys(ctx, n, p)
		if err != nil {
			return nil, fmt.Errorf("list keys: %w", err)
		}
		for _, k := range found.Rows {
			out = append(out, api.ShowKey(k, a.dir.Clock.Now()))
			p.After = k.ID
		}
		more = found.More
	}
	return out, nil
}

// RollKey replaces key, key_…, by a new key. The old one stays valid for overlap, 24 hours at most.
// The secret is returned once and never again.
func (a *Admin) RollKey(
	ctx context.Context, key string, overlap time.Duration, to Restrictions,
) (secret.String, error) {
	addresses, err := to.parse()
	if err != nil {
		return secret.String{}, err
	}
	how := engine.Roll{Overlap: overlap, Addresses: addresses, Origins: to.Origins}
	var made secret.String
	err = a.onKey(ctx, "api_keys.roll", key, func(r engine.Request, k *payment.APIKey) error {
		result, err := a.engine().RollKey(ctx, r, k.Tenant, engine.Unlimited(), k.ID, how)
		if err != nil {
			return fmt.Errorf("roll %s: %w", key, err)
		}
		if result.Kind == engine.Refused {
			return fmt.Errorf("%s is %s: only an active key can be rolled", key, k.Status(a.dir.Clock.Now()))
		}
		made = result.Credential
		return nil
	})
	return made, err
}

// RevokeKey revokes key, key_…, immediately. A running core rejects it within a second. The last
// key of a merchant that can manage keys is revoked only by force.
func (a *Admin) RevokeKey(ctx context.Context, key string, force bool) error {
	return a.onKey(ctx, "api_keys.revoke", key, func(r engine.Request, k *payment.APIKey) error {
		_, err := a.engine().RevokeKey(ctx, r, k.Tenant, nil, k.ID, force)
		if errors.Is(err, engine.ErrLastKey) {
			return fmt.Errorf("%s is the last key of its merchant and mode that can manage keys: "+
				"create another one first, or use --force", key)
		}
		return err
	})
}

// onKey runs an action on a key by its id.
func (a *Admin) onKey(ctx context.Context, action, key string, fn func(engine.Request, *payment.APIKey) error) error {
	n, err := id.Parse(id.APIKey, key)
	if err != nil {
		return fmt.Errorf("want the id of a key, key_…, not the key: %w", err) // it does not repeat the text, maybe a key
	}
	return a.act(ctx, action, key, func(r engine.Request) error {
		k, err := a.key(ctx, key, n)
		if err != nil {
			return err
		}
		return fn(r, k)
	})
}

func (a *Admin) key(ctx context.Context, key string, n int64) (*payment.APIKey, error) {
	k, err := a.db.KeyByID(ctx, payment.Tenant{}, n)
	if errors.Is(err, payment.ErrNotFound) {
		return nil, fmt.Errorf("key %s does not exist: see core keys list", key)
	}
	return k, err
}
