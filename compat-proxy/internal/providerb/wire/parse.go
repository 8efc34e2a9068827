package wire

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/jsonscan"
)

var anyCase = json.MatchCaseInsensitiveNames(true)

// FieldError names the field of a request that cannot be read; empty if it is not JSON at all.
type FieldError struct {
	// Field is a dotted path, as "orderInformation.amountDetails.totalAmount".
	Field string
}

// Error implements error. It repeats nothing of the request but names.
func (e *FieldError) Error() string { return "provider-b: cannot read " + e.Field }

// Parse reads a request; an empty body is an empty request. The error is a *FieldError.
func Parse(body []byte) (*Request, error) {
	r := &Request{}
	if len(body) == 0 {
		return r, nil
	}
	if jsonscan.TooDeep(body) {
		return nil, &FieldError{}
	}
	err := json.Unmarshal(body, r, anyCase)
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case err == nil && jsontext.Value(body).Kind() == jsontext.KindBeginObject:
		return r, nil
	case errors.As(err, &syntactic) && errors.Is(err, jsontext.ErrDuplicateName):
		return nil, &FieldError{Field: dotted(syntactic.JSONPointer)}
	case errors.As(err, &semantic):
		return nil, &FieldError{Field: dotted(semantic.JSONPointer)}
	}
	return nil, &FieldError{}
}

// dotted is a JSON pointer in the dialect's way to name fields.
func dotted(p jsontext.Pointer) string {
	const longest = 256
	var names []string
	for name := range p.Tokens() {
		names = append(names, name)
	}
	path := strings.Join(names, ".")
	return path[:min(len(path), longest)]
}
