package keyapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// cacheControl lets clients cache keys for an hour. That is far less than the time for which a next
// key is published, or a previous key kept.
const cacheControl = "private, max-age=3600, must-revalidate"

// mleKey is a key in responses to merchants.
type mleKey struct {
	Object      string         `json:"object"`
	Kid         string         `json:"kid"`
	Alg         engine.Alg     `json:"alg"`
	Status      keyring.State  `json:"status"`
	NotBefore   v1.Time        `json:"not_before"`
	RotateAfter v1.Time        `json:"rotate_after"`
	ExpiresAt   v1.Time        `json:"expires_at"`
	JWK         jsontext.Value `json:"jwk"`
	Enc         []string       `json:"enc"`
	Next        *nextKey       `json:"next,omitempty"`
	Previous    *previousKey   `json:"previous,omitempty"`
	ResponseKey *responseRef   `json:"response_key,omitempty"`
	// Requirements are part of the current key only, and then not nil.
	Requirements []v1.MLERequirement `json:"requirements,omitzero"`
}

// deleted is the response to a DELETE.
type deleted struct {
	Kid     string `json:"kid"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

const objectKey = "mle_key"

type nextKey struct {
	Kid       string         `json:"kid"`
	NotBefore v1.Time        `json:"not_before"`
	JWK       jsontext.Value `json:"jwk"`
}

type previousKey struct {
	Kid       string  `json:"kid"`
	ExpiresAt v1.Time `json:"expires_at"`
}

type responseRef struct {
	Kid *string `json:"kid"` // null if none is active
}

func show(k keyring.Key) mleKey {
	return mleKey{
		Object: objectKey, Kid: k.Kid, Alg: k.Alg, Status: k.State, NotBefore: v1.Time{Time: k.NotBefore},
		RotateAfter: v1.Time{Time: k.RotateAfter}, ExpiresAt: v1.Time{Time: k.ExpiresAt}, JWK: encode(k.JWK),
		Enc: []string{"A256GCM"},
	}
}

func (a *API) getCurrent(w http.ResponseWriter, r *http.Request, tenant string) *engine.Problem {
	alg, p := algOf(r)
	if p != nil {
		return p
	}
	pair, err := a.Keys.Current(r.Context(), tenant, alg)
	if err != nil {
		return a.problemOf(err)
	}
	out := show(pair.Current)
	if n := pair.Next; n != nil {
		out.Next = &nextKey{n.Kid, v1.Time{Time: n.NotBefore}, encode(n.JWK)}
	}
	if out.ResponseKey, err = a.defaultResponseKey(r.Context(), tenant); err != nil {
		return a.problemOf(err)
	}
	out.Requirements = append([]v1.MLERequirement{}, a.Requirements()...)
	cacheable(w, r, "application/json", encode(out))
	return nil
}

// defaultResponseKey returns the id of the default response key, if there is one.
func (a *API) defaultResponseKey(ctx context.Context, tenant string) (*responseRef, error) {
	kid, err := a.Keys.DefaultResponseKey(ctx, tenant)
	if errors.Is(err, engine.ErrNoKey) {
		return &responseRef{}, nil
	}
	return &responseRef{&kid}, err
}

// algOf reads the algorithm from the query. The default is ECDH-ES+A256KW.
func algOf(r *http.Request) (engine.Alg, *engine.Problem) {
	q, err := url.ParseQuery(r.URL.RawQuery) // URL.Query drops parts that it cannot parse, and the default would apply
	if err != nil {
		p := problem(codeUnknownParameter)
		p.Message = "The query string is not valid: check its percent-encoding."
		return "", p
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if name != "alg" || len(q[name]) > 1 {
			return "", at(codeUnknownParameter, name)
		}
	}
	if !q.Has("alg") {
		return engine.ECDHESA256KW, nil
	}
	// an unescaped + in a query decodes to a space
	return knownAlg(engine.Alg(strings.ReplaceAll(q.Get("alg"), " ", "+")))
}

func knownAlg(alg engine.Alg) (engine.Alg, *engine.Problem) {
	if !slices.Contains(keyring.Algs(), alg) {
		return "", invalid("alg", "The alg must be \"ECDH-ES+A256KW\" or \"RSA-OAEP-256\".")
	}
	return alg, nil
}

// listKeys responds with the JWKS of all keys that decrypt. It makes the first key of a merchant.
func (a *API) listKeys(w http.ResponseWriter, r *http.Request, tenant string) *engine.Problem {
	if r.URL.RawQuery != "" {
		return problem(codeUnknownParameter)
	}
	if _, err := a.Keys.Current(r.Context(), tenant, engine.ECDHESA256KW); err != nil {
		return a.problemOf(err)
	}
	keys, err := a.Keys.Keys(r.Context(), tenant)
	if err != nil {
		return a.problemOf(err)
	}
	out := struct {
		Keys []jsontext.Value `json:"keys"`
	}{[]jsontext.Value{}}
	for _, k := range keys {
		out.Keys = append(out.Keys, encode(k.JWK))
	}
	cacheable(w, r, "application/jwk-set+json", encode(out))
	return nil
}

// cacheable responds with a body that the client may cache, or with 304 if the cached one is
// current.
func cacheable(w http.ResponseWriter, r *http.Request, mediaType string, body []byte) {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	h := w.Header()
	h.Set("Cache-Control", cacheControl)
	h.Set("Vary", "Authorization")
	h.Set("ETag", tag)
	for _, line := range r.Header["If-None-Match"] {
		for other := range strings.SplitSeq(line, ",") {
			if other = strings.TrimPrefix(strings.TrimSpace(other), "W/"); other == tag || other == "*" {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
	}
	h.Set("Content-Type", mediaType)
	write(w, http.StatusOK, body)
}

// rotateBody is the body of a rotation.
type rotateBody struct {
	Alg       *engine.Alg `json:"alg"`
	Kid       *string     `json:"kid"`        // the key to replace
	ExpiresIn *int64      `json:"expires_in"` // in seconds, for the replaced key
}

func (a *API) rotate(w http.ResponseWriter, r *http.Request, tenant string) *engine.Problem {
	var in rotateBody
	o, p := decode(w, r, &in, true)
	if p != nil {
		return p
	}
	do := keyring.Rotate{Tenant: tenant, Alg: engine.ECDHESA256KW, Limited: true, Once: o}
	if in.Alg != nil {
		if do.Alg, p = knownAlg(*in.Alg); p != nil {
			return p
		}
	}
	if in.Kid != nil {
		if do.From = *in.Kid; do.From == "" {
			return at(codeMissingField, "kid")
		}
	}
	if in.ExpiresIn != nil {
		most := int64(a.Keys.Schedule().KeepPrevious / time.Second)
		if *in.ExpiresIn < 0 || *in.ExpiresIn > most {
			return invalid("expires_in", fmt.Sprintf("The value must be from 0 to %d seconds.", most))
		}
		keep := time.Duration(*in.ExpiresIn) * time.Second
		do.Keep = &keep
	}
	out, err := a.Keys.Rotate(r.Context(), do, showRotated)
	return a.respond(w, out, err)
}

func showRotated(done keyring.Rotated) keyring.Response {
	out := show(done.Current)
	if done.Previous != nil {
		out.Previous = &previousKey{done.Previous.Kid, v1.Time{Time: done.Previous.ExpiresAt}}
	}
	return keyring.Response{Status: http.StatusOK, Body: encode(out)}
}

// endKey ends a previous key early.
func (a *API) endKey(w http.ResponseWriter, r *http.Request, tenant string) *engine.Problem {
	if r.URL.RawQuery != "" {
		return problem(codeUnknownParameter)
	}
	kid := r.PathValue("kid")
	if _, err := a.Keys.Retire(r.Context(), tenant, kid); err != nil {
		return a.problemOf(err)
	}
	w.Header().Set("Cache-Control", "no-store")
	write(w, http.StatusOK, encode(deleted{kid, objectKey, true}))
	return nil
}

// encode marshals the types of this package, which cannot fail.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a year with five digits; the client gets 500
	}
	return b
}
