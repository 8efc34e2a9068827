package keyapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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

// cached is how long a client may keep what it was told of keys: far less than a next key is published ahead, or a previous one is kept.
const cached = "private, max-age=3600, must-revalidate"

// mleKey is a key as merchants see it.
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
}

// deleted is the answer to a DELETE.
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
	Kid *string `json:"kid"` // null when none is active
}

func show(k keyring.Key) mleKey {
	return mleKey{
		Object: objectKey, Kid: k.Kid, Alg: k.Alg, Status: k.State, NotBefore: v1.Time{Time: k.NotBefore}, RotateAfter: v1.Time{Time: k.RotateAfter},
		ExpiresAt: v1.Time{Time: k.ExpiresAt}, JWK: encode(k.JWK), Enc: []string{"A256GCM"},
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
	if out.ResponseKey, err = a.usual(r.Context(), tenant); err != nil {
		return a.problemOf(err)
	}
	cacheable(w, r, "application/json", encode(out))
	return nil
}

// usual is the response key that is used unless another is asked for.
func (a *API) usual(ctx context.Context, tenant string) (*responseRef, error) {
	kid, err := a.Keys.UsualResponse(ctx, tenant)
	if errors.Is(err, engine.ErrNoKey) {
		return &responseRef{}, nil
	}
	return &responseRef{&kid}, err
}

// algOf reads the query: which algorithm, P-256's unless another is named.
func algOf(r *http.Request) (engine.Alg, *engine.Problem) {
	q, err := url.ParseQuery(r.URL.RawQuery) // URL.Query leaves out what it cannot read, and so would give the other key
	if err != nil {
		p := problem(codeUnknownParameter)
		p.Message = "The query string cannot be read."
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
	return knownAlg(engine.Alg(strings.ReplaceAll(q.Get("alg"), " ", "+"))) // ?alg=ECDH-ES+A256KW, as it is written by hand; no alg has a space
}

func knownAlg(alg engine.Alg) (engine.Alg, *engine.Problem) {
	if !slices.Contains(keyring.Algs(), alg) {
		return "", invalid("alg", "An alg is \"ECDH-ES+A256KW\" or \"RSA-OAEP-256\".")
	}
	return alg, nil
}

// listKeys answers the JWKS of all keys that decrypt. A merchant that has none yet gets its first.
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

// cacheable answers what the client may keep to itself for a while, or that what it has kept is still right.
func cacheable(w http.ResponseWriter, r *http.Request, mediaType string, body []byte) {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	h := w.Header()
	h.Set("Cache-Control", cached)
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
	ExpiresIn *int64      `json:"expires_in"` // for how many seconds it decrypts
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
		if *in.ExpiresIn < 0 || *in.ExpiresIn > int64(a.Keys.Schedule().KeepPrevious/time.Second) {
			return invalid("expires_in", "The replaced key can be kept for 0 seconds up to as long as one is kept by schedule.")
		}
		keep := time.Duration(*in.ExpiresIn) * time.Second
		do.Keep = &keep
	}
	out, err := a.Keys.Rotate(r.Context(), do, showRotated)
	return a.answer(w, out, err)
}

func showRotated(done keyring.Rotated) keyring.StoredResponse {
	out := show(done.Current)
	if done.Previous != nil {
		out.Previous = &previousKey{done.Previous.Kid, v1.Time{Time: done.Previous.ExpiresAt}}
	}
	return keyring.StoredResponse{Status: http.StatusOK, Body: encode(out)}
}

// endKey ends a previous key before its time.
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

// encode writes what can always be written: our own types.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a year with five digits; the request is answered 500
	}
	return b
}
