package api

import (
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (o *Operator) listMerchantKeys(w http.ResponseWriter, r *http.Request, left *trail) error {
	n, err := merchantID(r, left)
	if err != nil {
		return err
	}
	const only = "mode"
	p, err := reservePage(r, id.APIKey, only)
	if err != nil {
		return err
	}
	if _, err := o.Store.Merchant(r.Context(), n); err != nil {
		return err
	}
	var found payment.List[*payment.APIKey]
	if q := r.URL.Query(); !q.Has(only) {
		found, err = o.Store.MerchantKeys(r.Context(), n, p)
	} else if m := v1.Mode(q.Get(only)); m.Valid() {
		found, err = o.Store.Keys(r.Context(), payment.Tenant{Merchant: n, Live: m == v1.ModeLive}, p)
	} else {
		err = &fault{code: codeInvalidValue, param: only, message: wantMode}
	}
	if err != nil {
		return err
	}
	o.write(w, r, http.StatusOK, showList(p, found, o.showUsedKey))
	return nil
}

func (o *Operator) createMerchantKey(c *call, left *trail) (engine.Result, error) {
	n, err := merchantID(c.Request, left)
	if err != nil {
		return engine.Result{}, err
	}
	c.request.Rights = engine.Unlimited().Rights()
	c.show = func(out *engine.Result) error { left.key = resourceOf(out.Body); return nil }
	var in operator.APIKeyCreate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	if f := modeFault(in.Mode); f != nil {
		return engine.Result{}, f
	}
	made, f := o.newKey(&v1.APIKeyCreate{
		Kind: in.Kind, Name: in.Name, Scopes: in.Scopes, ExpiresAt: in.ExpiresAt,
		AllowedAddresses: in.AllowedAddresses, AllowedOrigins: in.AllowedOrigins,
	})
	if f != nil {
		return engine.Result{}, f
	}
	return o.Engine.CreateKey(c.Context(), c.request, payment.Tenant{Merchant: n, Live: in.Mode == v1.ModeLive}, engine.Unlimited(), made)
}

// rollMerchantKey replaces a key by a new one. An operator has all scopes, so it may roll any.
func (o *Operator) rollMerchantKey(c *call, left *trail) (engine.Result, error) {
	c.request.Rights = engine.Unlimited().Rights()
	var in v1.APIKeyRoll
	if err := c.decode(&in, true); err != nil {
		return engine.Result{}, err
	}
	how, f := roll(&in)
	if f != nil {
		return engine.Result{}, f
	}
	k, err := o.merchantKey(c.Request, left)
	if err != nil {
		return engine.Result{}, err
	}
	out, err := o.Engine.RollKey(c.Context(), c.request, k.Tenant, engine.Unlimited(), k.ID, how)
	if err == nil {
		o.Auth.Forget(k.Tenant.Merchant)
	}
	return out, err
}

// merchantKey reads the key in the path, and puts its id into the audit line.
func (o *Operator) merchantKey(r *http.Request, left *trail) (*payment.APIKey, error) {
	n, err := merchantID(r, left)
	if err != nil {
		return nil, err
	}
	key, err := pathIDOf(r, "key", id.APIKey)
	if err != nil {
		return nil, err
	}
	left.key = id.Format(id.APIKey, key)
	k, err := o.Store.MerchantKey(r.Context(), n, key)
	return k, notFoundAt(err, "key")
}

func (o *Operator) revokeMerchantKey(w http.ResponseWriter, r *http.Request, left *trail) error {
	force, err := forced(r)
	if err != nil {
		return err
	}
	k, err := o.merchantKey(r, left)
	if err != nil {
		return err
	}
	req := engine.Request{ID: httpx.RequestIDFrom(r.Context()), Actor: o.actor(r)}
	revoked, err := o.Engine.RevokeKey(r.Context(), req, k.Tenant, nil, k.ID, force)
	if err != nil {
		return err
	}
	o.Auth.Forget(k.Tenant.Merchant)
	shown := o.showUsedKey(revoked)
	o.write(w, r, http.StatusOK, encode(&shown))
	return nil
}
