package wire

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/jsonscan"
)

var anyCase = json.MatchCaseInsensitiveNames(true)

// FieldError is the error of a field that Parse cannot read.
type FieldError struct {
	// Field is a dotted path, such as "orderInformation.amountDetails.totalAmount". It is empty if the
	// body is not a JSON object.
	Field string
}

// Error implements error. It repeats only names of the request, and no value.
func (e *FieldError) Error() string {
	if e.Field == "" {
		return "provider-b: the body is not a JSON object"
	}
	return "provider-b: field " + e.Field + ": repeated, or not of its type"
}

// Parse reads a request; an empty body is an empty request. The card of a track becomes the card of
// the request, unless it has one. The error is a *FieldError.
func Parse(body []byte) (*Request, error) {
	r := &Request{}
	if len(body) == 0 {
		return r, nil
	}
	if jsonscan.TooLarge(body) {
		return nil, &FieldError{}
	}
	err := json.Unmarshal(body, r, anyCase)
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case err == nil && jsontext.Value(body).Kind() == jsontext.KindBeginObject:
		r.readTrack()
		return r, nil
	case errors.As(err, &syntactic) && errors.Is(err, jsontext.ErrDuplicateName):
		return nil, &FieldError{Field: dotted(syntactic.JSONPointer)}
	case errors.As(err, &semantic):
		return nil, &FieldError{Field: dotted(semantic.JSONPointer)}
	}
	return nil, &FieldError{}
}

// dotted converts a JSON pointer to the dialect's form of a path.
func dotted(p jsontext.Pointer) string {
	const longest = 256
	var names []string
	for name := range p.Tokens() {
		names = append(names, name)
	}
	path := strings.Join(names, ".")
	return path[:min(len(path), longest)]
}
