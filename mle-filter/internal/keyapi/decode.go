package keyapi

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/idempotency"
	"github.com/causeway-pay/causeway/shared/jsonscan"
)

// maxBody is the longest body in bytes.
const maxBody = 64 << 10

// decode parses the body strictly into v, as core does, and reads the request's Idempotency-Key.
func decode(w http.ResponseWriter, r *http.Request, v any, optional bool) (keyring.Once, *engine.Problem) {
	if r.URL.RawQuery != "" {
		return keyring.Once{}, problem(codeUnknownParameter)
	}
	body, err := admission.ReadBody(w, r, maxBody)
	switch {
	case errors.Is(err, admission.ErrTooLarge):
		return keyring.Once{}, problem(codeBodyTooLarge)
	case errors.Is(err, admission.ErrEncoding):
		return keyring.Once{}, at(codeUnsupportedMediaType, "Content-Encoding")
	case shell.Unread(err) != nil:
		return keyring.Once{}, shell.Unread(err)
	case err != nil || len(body) == 0 && !optional:
		return keyring.Once{}, problem(codeInvalidJSON)
	}
	if len(body) > 0 {
		if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
			return keyring.Once{}, at(codeUnsupportedMediaType, "Content-Type")
		}
		if p := unmarshal(body, v); p != nil {
			return keyring.Once{}, p
		}
	}
	return once(r, body)
}

func unmarshal(body []byte, v any) *engine.Problem {
	if jsontext.Value(body).Kind() != '{' || jsonscan.TooLarge(body) {
		return problem(codeInvalidJSON)
	}
	err := json.Unmarshal(body, v, json.RejectUnknownMembers(true))
	var (
		syntactic *jsontext.SyntacticError
		semantic  *json.SemanticError
	)
	switch {
	case err == nil:
		return nullIn(body)
	case errors.As(err, &semantic) && errors.Is(semantic.Err, json.ErrUnknownName):
		return at(codeUnknownField, jsonscan.Dotted(semantic.JSONPointer))
	case errors.As(err, &semantic):
		return at(codeInvalidType, jsonscan.Dotted(semantic.JSONPointer))
	case errors.As(err, &syntactic) && errors.Is(syntactic.Err, jsontext.ErrDuplicateName):
		return at(codeDuplicateField, jsonscan.Dotted(syntactic.JSONPointer))
	}
	return problem(codeInvalidJSON)
}

// nullIn rejects a body with a null, because no field takes one. The JSON decoder treats null as
// absent.
func nullIn(body []byte) *engine.Problem {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	for token, err := d.ReadToken(); err == nil; token, err = d.ReadToken() {
		if token.Kind() == 'n' {
			return at(codeInvalidType, jsonscan.Dotted(d.StackPointer()))
		}
	}
	return nil
}

// once reads the request's Idempotency-Key.
func once(r *http.Request, body []byte) (keyring.Once, *engine.Problem) {
	key, err := idempotency.Key(r.Header)
	switch {
	case err != nil:
		return keyring.Once{}, at(codeInvalidIdempotencyKey, idempotency.Header)
	case key == "":
		return keyring.Once{}, nil
	}
	return keyring.Once{Key: key, Fingerprint: fingerprint(r.Method, r.URL.Path, body)}, nil
}

// fingerprint returns the hash of method, path and body. It is equal for bodies with the same
// canonical form.
func fingerprint(method, path string, body []byte) []byte {
	sum := sha256.New()
	for _, part := range [][]byte{[]byte(method), []byte(path), idempotency.Canonical(body)} {
		sum.Write(part)
		sum.Write([]byte{0}) // no part contains it, so different triples cannot be equal
	}
	return sum.Sum(nil)
}

// respond writes a response, which is stored if the request is a retry.
func (a *API) respond(w http.ResponseWriter, out keyring.Response, err error) *engine.Problem {
	if err != nil {
		return a.problemOf(err)
	}
	if out.Replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	w.Header().Set("Cache-Control", "no-store")
	write(w, out.Status, out.Body)
	return nil
}
