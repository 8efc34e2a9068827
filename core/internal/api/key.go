package api

import (
	"errors"
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (a *API) keyRoutes() []route {
	return []route{
		{http.MethodGet, "/v1/api_keys/current", "", a.currentKey},
	}
}

func (a *API) currentKey(w http.ResponseWriter, r *http.Request, k *store.Key) error {
	out := v1.APIKey{
		ID: id.Format(id.APIKey, k.ID), Object: v1.APIKeyObjectAPIKey, Merchant: id.Format(id.Merchant, k.Tenant.Merchant),
		Mode: mode(k.Tenant), Kind: v1.APIKeyKind(k.Kind), Scopes: k.Scopes, Hint: k.Hint, CreatedAt: v1.Time{Time: k.CreatedAt},
	}
	if !k.ExpiresAt.IsZero() {
		out.ExpiresAt = &v1.Time{Time: k.ExpiresAt}
	}
	a.write(w, r, http.StatusOK, encode(&out))
	return nil
}

// authFault tells a bad key from a store that could not be asked.
func authFault(err error) error {
	if errors.Is(err, auth.ErrInvalidKey) {
		return &fault{code: codeInvalidAPIKey}
	}
	return err
}
