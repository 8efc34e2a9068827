package keyapi

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/jwkcheck"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// mleResponseKey is a merchant's public key in responses.
type mleResponseKey struct {
	Object    string         `json:"object"`
	Kid       string         `json:"kid"`
	Alg       engine.Alg     `json:"alg"`
	Status    string         `json:"status"`  // pending or active
	Default   bool           `json:"default"` // used unless the request names another key
	CreatedAt v1.Time        `json:"created_at"`
	ActiveAt  *v1.Time       `json:"active_at,omitempty"`
	JWK       jsontext.Value `json:"jwk"`
	Challenge *challenge     `json:"challenge,omitempty"`
}

type challenge struct {
	JWE       string  `json:"jwe,omitempty"` // only in the response that creates it
	ExpiresAt v1.Time `json:"expires_at"`
}

const objectResponseKey = "mle_response_key"

func showResponseKey(k keyring.ResponseKey) mleResponseKey {
	out := mleResponseKey{
		Object: objectResponseKey, Kid: k.Kid, Alg: k.Alg, Status: "pending", Default: k.Default,
		CreatedAt: v1.Time{Time: k.CreatedAt}, JWK: encode(k.JWK),
	}
	if k.Active {
		out.Status, out.ActiveAt = "active", &v1.Time{Time: k.ActiveAt}
	} else {
		out.Challenge = &challenge{k.Challenge, v1.Time{Time: k.ChallengeBy}}
	}
	return out
}

func renderResponseKey(status int) func(keyring.ResponseKey) keyring.Response {
	return func(k keyring.ResponseKey) keyring.Response {
		return keyring.Response{Status: status, Body: encode(showResponseKey(k))}
	}
}

func (a *API) listResponseKeys(w http.ResponseWriter, r *http.Request, tenant string) *engine.Problem {
	if r.URL.RawQuery != "" {
		return problem(codeUnknownParameter)
	}
	keys, err := a.Keys.ResponseKeys(r.Context(), tenant)
	if err != nil {
		return a.problemOf(err)
	}
	out := struct {
		Object  string           `json:"object"`
		Data    []mleResponseKey `json:"data"`
		HasMore bool             `json:"has_more"`
	}{Object: "list", Data: []mleResponseKey{}}
	for _, k := range keys {
		out.Data = append(out.Data, showResponseKey(k))
	}
	w.Header().Set("Cache-Control", "no-store")
	write(w, http.StatusOK, encode(out))
	return nil
}

func (a *API) register(w http.ResponseWriter, r *http.Request, tenant string) *engine.Problem {
	var in struct {
		JWK jsontext.Value `json:"jwk"`
	}
	o, p := decode(w, r, &in, false)
	if p != nil {
		return p
	}
	if len(in.JWK) == 0 {
		return at(codeMissingField, "jwk")
	}
	jwk, _, err := jwkcheck.Parse(in.JWK, keyring.Thumbprint)
	if err != nil {
		return a.problemOf(err)
	}
	out, err := a.Keys.Register(r.Context(), tenant, jwk, o, renderResponseKey(http.StatusCreated))
	return a.respond(w, out, err)
}

func (a *API) prove(w http.ResponseWriter, r *http.Request, tenant string) *engine.Problem {
	var in struct {
		Plaintext string `json:"answer"` // of the challenge
	}
	o, p := decode(w, r, &in, false)
	if p != nil {
		return p
	}
	if in.Plaintext == "" {
		return at(codeMissingField, "answer")
	}
	out, err := a.Keys.Prove(r.Context(), tenant, r.PathValue("kid"), in.Plaintext, o, renderResponseKey(http.StatusOK))
	return a.respond(w, out, err)
}

func (a *API) deleteResponseKey(w http.ResponseWriter, r *http.Request, tenant string) *engine.Problem {
	if r.URL.RawQuery != "" {
		return problem(codeUnknownParameter)
	}
	kid := r.PathValue("kid")
	if err := a.Keys.DeleteResponseKey(r.Context(), tenant, kid); err != nil {
		return a.problemOf(err)
	}
	w.Header().Set("Cache-Control", "no-store")
	write(w, http.StatusOK, encode(deleted{kid, objectResponseKey, true}))
	return nil
}
