package api

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/idempotency"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/httpx"
	keyheader "github.com/causeway-pay/causeway/shared/idempotency"
	"github.com/causeway-pay/causeway/shared/jsonscan"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// decode reads the body strictly into v: one JSON object, no unknown, duplicate or mistyped field,
// and no card number in a text. Optional allows an absent body, which leaves v as it is.
func decode(w http.ResponseWriter, r *http.Request, v any, optional bool) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	return parse(r, body, v, optional)
}

// readBody returns the body of a request that takes no query parameters.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.URL.RawQuery != "" {
		return nil, &fault{code: codeUnknownParameter, message: "This endpoint takes no query parameters. Remove them."}
	}
	body, err := admission.ReadBody(w, r, maxBody)
	if err != nil {
		return nil, readFault(err)
	}
	return body, nil
}

// parse is decode of a body that has been read.
func parse(r *http.Request, body []byte, v any, optional bool) error {
	if len(body) == 0 {
		if optional {
			return nil
		}
		return &fault{code: codeInvalidJSON, message: "The body is missing. Send one JSON object."}
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return &fault{code: codeUnsupportedMediaType, param: "Content-Type"}
	}
	if jsonscan.TooDeep(body) {
		return &fault{code: codeInvalidJSON, message: "The body nests deeper than 32 levels. Send fewer levels."}
	}
	if jsonscan.TooMany(body) {
		return &fault{code: codeInvalidJSON, message: "The body has more than " + strconv.Itoa(jsonscan.MaxValues) + " values. Send fewer."}
	}
	if err := json.Unmarshal(body, v, json.RejectUnknownMembers(true)); err != nil {
		return decodeFault(err)
	}
	if body[firstByte(body)] != '{' {
		return &fault{code: codeInvalidJSON}
	}
	if f := unfitFault(body); f != nil {
		return f
	}
	if at, found := v1.CardNumberInText(body); found {
		return &fault{code: codeCardNumberInText, param: jsonscan.Dotted(at)}
	}
	return nil
}

// unfitFault returns the fault of the first null of a decoded body, or of the first text with a
// character of code 0. Nil: there is none. No field of the contract accepts null, and package json
// reads null as absent. The path is built only for a fault, because it contains all enclosing
// names.
func unfitFault(body []byte) *fault {
	if !bytes.Contains(body, []byte("null")) && !bytes.Contains(body, []byte(`\u0000`)) {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(body))
	for token, err := d.ReadToken(); err == nil; token, err = d.ReadToken() {
		switch {
		case token.Kind() == 'n':
			return typeFault(jsonscan.Dotted(d.StackPointer()))
		case token.Kind() == '"' && !isText(token.String()):
			at := d.StackPointer()
			for !isText(string(at)) { // the name is at fault, so the path names the object
				at = at.Parent()
			}
			return textFault(jsonscan.Dotted(at))
		}
	}
	return nil
}

func readFault(err error) error {
	if f := admissionFault(err); f != nil {
		return f
	}
	return &fault{code: codeInvalidJSON, message: v1.MessageBodyNotReceived, cause: err}
}

// decodeFault names the field that package json rejected. It drops the error texts, because they
// may quote the body.
func decodeFault(err error) *fault {
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &semantic) && errors.Is(semantic.Err, json.ErrUnknownName):
		return &fault{code: codeUnknownField, param: jsonscan.Dotted(semantic.JSONPointer)}
	case errors.As(err, &semantic) && semantic.JSONKind == '"' && errors.Is(semantic.Err, v1.ErrTime):
		return &fault{code: codeInvalidValue, param: jsonscan.Dotted(semantic.JSONPointer), message: wantTime}
	case errors.As(err, &semantic):
		return typeFault(jsonscan.Dotted(semantic.JSONPointer))
	case errors.As(err, &syntactic) && errors.Is(syntactic.Err, jsontext.ErrDuplicateName):
		return &fault{code: codeDuplicateField, param: jsonscan.Dotted(syntactic.JSONPointer)}
	default:
		return &fault{code: codeInvalidJSON}
	}
}

// typeFault returns the fault of a value of the wrong type. The fault of an amount explains the
// form of amounts.
func typeFault(param string) *fault {
	if param == "amount" || strings.HasSuffix(param, "_amount") {
		return &fault{code: codeInvalidAmount, param: param}
	}
	return &fault{code: codeInvalidType, param: param}
}

func firstByte(body []byte) int {
	for i, c := range body {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return i
		}
	}
	return 0
}

// given reports whether the body's object has the field. A field that is zero is not missing.
func given(body []byte, field string) bool {
	var fields map[string]jsontext.Value
	if json.Unmarshal(body, &fields) != nil {
		return false
	}
	_, ok := fields[field]
	return ok
}

// requestOf returns the tenant, the API key, the client address and the request id of r.
func requestOf(r *http.Request, k *payment.APIKey) engine.Request {
	ctx := r.Context()
	return engine.Request{
		Tenant: k.Tenant, APIKey: k.ID, Payer: k.Kind == string(apikey.Publishable),
		ClientAddress: httpx.ClientAddressFrom(ctx), ID: httpx.RequestIDFrom(ctx),
	}
}

// request returns a changing request with its idempotency key, for the engine.
func (a *API) request(r *http.Request, k *payment.APIKey, body []byte) (engine.Request, error) {
	key, err := keyheader.Key(r.Header)
	if err != nil {
		return engine.Request{}, err
	}
	out := requestOf(r, k)
	if key != "" {
		out.Key = idempotency.Name(a.IdempotencyKey, key, k.Kind == string(apikey.Publishable))
		out.Fingerprint = idempotency.Fingerprint(a.IdempotencyKey, r.Method, r.URL.Path, body)
		out.EncryptedResponse = a.encryptsResponse(r)
	}
	return out, nil
}
