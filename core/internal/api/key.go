package api

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// currentKeyPath is the path at which a secret key reads its own object.
const currentKeyPath = "/v1/api_keys/current"

func (a *API) keyRoutes() []route {
	return []route{
		{http.MethodGet, currentKeyPath, "", a.currentKey}, // before {id}, which would match it
		{http.MethodGet, "/v1/api_keys", apikey.ScopeKeysWrite, a.listKeys},
		{http.MethodPost, "/v1/api_keys", apikey.ScopeKeysWrite, a.changing(a.createKey)},
		{http.MethodGet, "/v1/api_keys/{id}", apikey.ScopeKeysWrite, a.getKey},
		{http.MethodPost, "/v1/api_keys/{id}/roll", apikey.ScopeKeysWrite, a.changing(a.rollKey)},
		{http.MethodDelete, "/v1/api_keys/{id}", apikey.ScopeKeysWrite, a.revokeKey},
	}
}

// currentKey reads the key from the store, not from the cache, because the caller makes decisions
// with it.
func (a *API) currentKey(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	k, err := a.Auth.Again(r.Context(), k)
	if err != nil {
		return authFault(err)
	}
	shown := a.showUsedKey(k)
	effective := apikey.EffectiveScopes(apikey.Kind(k.Kind), k.Scopes)
	shown.EffectiveScopes = &effective
	a.write(w, r, http.StatusOK, encode(&shown))
	return nil
}

func (a *API) listKeys(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	p, err := reservePage(r, id.APIKey)
	if err != nil {
		return err
	}
	found, err := a.Store.Keys(r.Context(), k.Tenant, p)
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, showList(p, found, a.showUsedKey))
	return nil
}

func (a *API) getKey(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	n, err := pathID(r, id.APIKey)
	if err != nil {
		return err
	}
	found, err := a.Store.Key(r.Context(), k.Tenant, n)
	if err != nil {
		return err
	}
	shown := a.showUsedKey(found)
	a.write(w, r, http.StatusOK, encode(&shown))
	return nil
}

func (a *API) createKey(c *call) (engine.Result, error) {
	c.request.Rights = creator(c.key).Rights()
	var in v1.APIKeyCreate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	n, f := a.newKey(&in)
	if f != nil {
		return engine.Result{}, f
	}
	out, err := a.Engine.CreateKey(c.Context(), c.request, c.key.Tenant, creator(c.key), n)
	return out, scopeFault(err)
}

// newKey checks the key of a request.
func (a *API) newKey(in *v1.APIKeyCreate) (engine.NewKey, *fault) {
	n := engine.NewKey{Kind: apikey.Kind(in.Kind)}
	switch {
	case in.Kind == "":
		return n, &fault{code: codeMissingField, param: "kind"}
	case !in.Kind.Valid():
		return n, &fault{code: codeInvalidValue, param: "kind", message: "The kind must be \"secret\" or \"publishable\"."}
	}
	if in.Name != nil {
		n.Name = *in.Name
	}
	if f := lengthFault(field{"name", in.Name, 100}); f != nil {
		return n, f
	}
	if in.ExpiresAt != nil {
		if n.ExpiresAt = in.ExpiresAt.UTC().Truncate(time.Millisecond); !n.ExpiresAt.After(a.Clock.Now()) {
			return n, &fault{code: codeInvalidValue, param: "expires_at", message: "The time must be in the future."}
		}
	}
	var f *fault
	if n.Addresses, n.Origins, f = restrictions(in.AllowedAddresses, in.AllowedOrigins); f != nil || in.Scopes == nil {
		return n, f
	}
	n.Scopes, f = givenScopes(*in.Scopes, n.Kind)
	return n, f
}

// restrictions returns the allowed addresses and origins of a request, nil for a missing list.
func restrictions(addresses, origins *[]string) (networks []netip.Prefix, pages []string, _ *fault) {
	if addresses != nil {
		var ok bool
		if networks, ok = apikey.ParseAddresses(*addresses); !ok {
			return nil, nil, &fault{code: codeInvalidValue, param: "allowed_addresses", message: "Send " + apikey.WantAddresses + "."}
		}
	}
	if origins != nil {
		if !apikey.CheckOrigins(*origins) {
			return nil, nil, &fault{code: codeInvalidValue, param: "allowed_origins", message: "Send " + apikey.WantOrigins + "."}
		}
		pages = append([]string{}, *origins...)
	}
	return networks, pages, nil
}

// givenScopes returns the scopes of a request in the contract's order, each once.
func givenScopes(in []v1.Scope, kind apikey.Kind) ([]string, *fault) {
	if all := len(apikey.AllScopes()); len(in) == 0 || len(in) > all {
		return nil, &fault{code: codeInvalidValue, param: "scopes", message: "The key must have 1 to " + strconv.Itoa(all) + " scopes."}
	}
	for _, s := range in {
		switch {
		case !apikey.ValidScope(string(s)):
			return nil, &fault{code: codeInvalidValue, param: "scopes", message: "There is no such scope. Check its name."}
		case !slices.Contains(apikey.DefaultScopes(kind), string(s)):
			return nil, &fault{
				code: codeInvalidValue, param: "scopes", message: "A " + string(kind) + " key cannot have the scope " + string(s) + ". Omit it.",
			}
		}
	}
	return slices.DeleteFunc(apikey.AllScopes(), func(s string) bool { return !slices.Contains(in, v1.Scope(s)) }), nil
}

func (a *API) rollKey(c *call) (engine.Result, error) {
	c.request.Rights = creator(c.key).Rights()
	n, err := pathID(c.Request, id.APIKey)
	if err != nil {
		return engine.Result{}, err
	}
	var in v1.APIKeyRoll
	if err := c.decode(&in, true); err != nil {
		return engine.Result{}, err
	}
	how, f := roll(&in)
	if f != nil {
		return engine.Result{}, f
	}
	out, err := a.Engine.RollKey(c.Context(), c.request, c.key.Tenant, creator(c.key), n, how)
	if err == nil {
		a.Auth.Forget(c.key.Tenant.Merchant)
	}
	return out, scopeFault(err)
}

// roll returns how to roll a key.
func roll(in *v1.APIKeyRoll) (how engine.Roll, f *fault) {
	if how.Overlap, f = overlap(in.ExpiresIn); f != nil {
		return how, f
	}
	how.Addresses, how.Origins, f = restrictions(in.AllowedAddresses, in.AllowedOrigins)
	return how, f
}

// overlap returns how long a rolled API key or signing secret stays valid. Without a number of
// seconds it is the longest time.
func overlap(seconds *int) (time.Duration, *fault) {
	if seconds == nil {
		return engine.MaxOverlap, nil
	}
	if *seconds < 0 || *seconds > int(engine.MaxOverlap/time.Second) {
		return 0, &fault{code: codeInvalidValue, param: "expires_in", message: "The overlap must be from 0 to 86400 seconds."}
	}
	return time.Duration(*seconds) * time.Second, nil
}

func (a *API) revokeKey(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	n, err := pathID(r, id.APIKey)
	if err != nil {
		return err
	}
	force, err := forced(r)
	if err != nil {
		return err
	}
	if k, err = a.Auth.Again(r.Context(), k); err != nil {
		return authFault(err)
	}
	by := engine.Request{Tenant: k.Tenant, APIKey: k.ID}
	revoked, err := a.Engine.RevokeKey(r.Context(), by, k.Tenant, k.Scopes, n, force)
	if err != nil {
		return scopeFault(err)
	}
	a.Auth.Forget(k.Tenant.Merchant)
	shown := a.showUsedKey(revoked)
	a.write(w, r, http.StatusOK, encode(&shown))
	return nil
}

// forced reads the one parameter of a revocation.
func forced(r *http.Request) (bool, error) {
	const name = "force"
	q, err := query(r, name)
	if err != nil || !q.Has(name) {
		return false, err
	}
	switch q.Get(name) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, &fault{code: codeInvalidValue, param: name, message: "The value must be \"true\" or \"false\"."}
}

// creator returns a key as the creator of others.
func creator(k *payment.APIKey) engine.Creator {
	return engine.Creator{Scopes: k.Scopes, Addresses: k.Addresses, ExpiresAt: k.ExpiresAt}
}

// scopeFault returns the refusal for a key that manages another key with a scope that it lacks. The
// same holds for addresses and for a later end.
func scopeFault(err error) error {
	if errors.Is(err, engine.ErrAddresses) {
		return &fault{
			code: codeInvalidValue, param: "allowed_addresses", cause: err,
			message: "The key of the request is limited to addresses. Send some of them.",
		}
	}
	if errors.Is(err, engine.ErrExpiry) {
		return &fault{
			code: codeInvalidValue, param: "expires_at", cause: err,
			message: "The key of the request ends earlier. It can create or roll only keys that end no later.",
		}
	}
	var missing *engine.MissingScopeError
	if errors.As(err, &missing) {
		return &fault{
			code: codeInsufficientScope, param: "scopes", cause: err,
			message: v1.MessageNoScope(missing.Scope) + " Only such a key can create, roll or revoke one with this scope.",
		}
	}
	return err
}

// showUsedKey shows a key, including its last use in this process.
func (a *API) showUsedKey(k *payment.APIKey) v1.APIKey {
	used := *k
	used.LastUsedAt = a.Auth.LastUsed(k)
	return ShowKey(&used, a.Clock.Now())
}

// ShowKey shows a key as it stands at a time, never its secret.
func ShowKey(k *payment.APIKey, now time.Time) v1.APIKey {
	out := v1.APIKey{
		ID: id.Format(id.APIKey, k.ID), Object: v1.APIKeyObjectAPIKey, Merchant: id.Format(id.Merchant, k.Tenant.Merchant),
		Mode: mode(k.Tenant), Kind: v1.APIKeyKind(k.Kind), Name: v1.Optional(k.Name), Scopes: k.Scopes, Hint: k.Hint,
		Status: v1.APIKeyStatus(k.Status(now)), CreatedAt: v1.Time{Time: k.CreatedAt},
		ExpiresAt: optionalTime(k.ExpiresAt), RevokedAt: optionalTime(k.RevokedAt), LastUsedAt: optionalTime(k.LastUsedAt),
	}
	if len(k.Addresses) > 0 {
		addresses := payment.PrefixTexts(k.Addresses)
		out.AllowedAddresses = &addresses
	}
	if len(k.Origins) > 0 {
		out.AllowedOrigins = &k.Origins
	}
	if k.ReplacedBy != 0 {
		out.ReplacedBy = v1.Optional(id.Format(id.APIKey, k.ReplacedBy))
	}
	return out
}

func optionalTime(t time.Time) *v1.Time {
	if t.IsZero() {
		return nil
	}
	return &v1.Time{Time: t}
}

// ended makes the next use of each key of k's merchant read the store, if err reports that k has
// ended at another core. It returns err.
func (a *API) ended(k *payment.APIKey, err error) error {
	if f := faultOf(err); f.code == codeInvalidAPIKey || f.code == codeMerchantDisabled {
		a.Auth.Forget(k.Tenant.Merchant)
	}
	return err
}

// endedKey returns the refusal of a key that was valid before, nil for another error.
func endedKey(err error) *fault {
	if !errors.Is(err, payment.ErrKeyEnded) {
		return nil
	}
	return &fault{code: codeInvalidAPIKey, message: v1.MessageEndedKey, cause: err}
}

// authFault distinguishes a bad key from a store that does not respond.
func authFault(err error) error {
	if f := endedKey(err); f != nil {
		return f
	}
	if errors.Is(err, auth.ErrInvalidKey) {
		return &fault{code: codeInvalidAPIKey}
	}
	if errors.Is(err, auth.ErrMerchantDisabled) {
		return &fault{code: codeMerchantDisabled}
	}
	return err
}
