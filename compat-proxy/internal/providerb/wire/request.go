package wire

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Request is the tree of every request, as far as it means something here: the methods share it and each reads its part. All else is
// ignored. A member that is null or missing is its zero value.
type Request struct {
	ClientReference ClientReference `json:"clientReferenceInformation"`
	Order           Order           `json:"orderInformation"`
}

// ClientReference is the client's own names for a request.
type ClientReference struct {
	Code Text `json:"code"`
	// TransactionID is one that the client never uses twice.
	TransactionID Text `json:"transactionId"`
}

// Order is what is paid for.
type Order struct {
	AmountDetails AmountDetails `json:"amountDetails"`
}

// AmountDetails are amounts in major units as the client wrote them.
type AmountDetails struct {
	TotalAmount Text `json:"totalAmount"`
	Currency    Text `json:"currency"`
}

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
	err := json.Unmarshal(body, r, json.MatchCaseInsensitiveNames(true))
	if err == nil {
		return r, nil
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return nil, &FieldError{Field: dotted(semantic.JSONPointer)}
	}
	return nil, &FieldError{}
}

// dotted is a JSON pointer in the dialect's way to name fields.
func dotted(p jsontext.Pointer) string {
	var names []string
	for name := range p.Tokens() {
		names = append(names, name)
	}
	return strings.Join(names, ".")
}
