package auth

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/shared/secret"
)

// KeySpec describes the key to make.
type KeySpec struct {
	Merchant  int64
	Live      bool
	Kind      apikey.Kind
	Scopes    []string // nil: all that the kind may have
	Name      string
	Addresses []netip.Prefix // of payment.APIKey
	Origins   []string       // of payment.APIKey
	ExpiresAt time.Time      // zero: never
}

// Minted is a key that was made and is not stored yet. The secret is nowhere else.
type Minted struct {
	Key    *payment.APIKey // without an id
	Hash   []byte          // by which the store finds it
	Secret secret.String
}

// Mint makes a key, hashed under the root secret in use. It fails when the kind cannot have a
// scope, or random fails.
func Mint(roots *root.Ring, random io.Reader, s KeySpec) (Minted, error) {
	mode := apikey.Test
	if s.Live {
		mode = apikey.Live
	}
	scopes := s.Scopes
	if scopes == nil {
		scopes = apikey.DefaultScopes(s.Kind)
	}
	for _, scope := range scopes {
		if !slices.Contains(apikey.DefaultScopes(s.Kind), scope) {
			return Minted{}, fmt.Errorf("auth: a %s key cannot have the scope %q", s.Kind, scope)
		}
	}
	if s.Kind != apikey.Publishable && len(s.Origins) > 0 {
		return Minted{}, payment.ErrOriginsOfSecretKey
	}
	key, err := apikey.New(s.Kind, mode, random)
	if err != nil {
		return Minted{}, err
	}
	pepper := roots.Keys(root.APIKeys)[0]
	hash := apikey.Hash(pepper.Bytes, key.Reveal())
	return Minted{
		Key: &payment.APIKey{
			Tenant: payment.Tenant{Merchant: s.Merchant, Live: s.Live}, Kind: string(s.Kind), Name: s.Name, Scopes: scopes,
			Addresses: s.Addresses, Origins: s.Origins, Hint: apikey.Hint(key.Reveal()),
			ExpiresAt: s.ExpiresAt, Root: pepper.Version,
		},
		Hash: hash[:], Secret: key,
	}, nil
}
