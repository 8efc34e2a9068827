package wire

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deep objects and arrays may lie in each other. The deepest request of the contract has seven.
const maxDepth = 32

var anyCase = json.MatchCaseInsensitiveNames(true)

// FieldError tells which field of a request cannot be read; empty when it is not JSON at all.
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
	if tooDeep(body) {
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

// tooDeep counts brackets outside strings, so that nothing has to be built to find out. Most bodies have too few to be deep.
func tooDeep(body []byte) bool {
	if bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) <= maxDepth {
		return false
	}
	depth, inString := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
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
