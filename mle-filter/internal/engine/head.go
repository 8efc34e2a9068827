package engine

import (
	"iter"
	"strings"

	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
)

// Fields are the header fields of a message. http.Header is one.
type Fields interface {
	// Values returns the values of a field in order. It ignores the case of the name.
	Values(name string) []string
}

// RequestHead is a request without its body.
type RequestHead struct {
	Method string
	Path   string // as sent, without the query
	Fields Fields
	Names  iter.Seq[string] // of all fields, in any case
	Body   bool             // false if there is none, or if it is certainly empty
	Length int64            // of the body in bytes; -1 if unknown
	// ClientAddress is the client's IP address, authenticated by the shell; "" if unknown.
	ClientAddress string
	// Legacy is LegacyClear or LegacyEncrypted for a request of compat-proxy, by the request of the
	// legacy client. It is "" for any other request.
	Legacy string
	// Level is the level of the route, set by the proxy that routes the request; "" for none. The
	// stricter of it and the policy holds.
	Level policy.Level
}

// The values of RequestHead.Legacy, as httpx.LegacyField has them.
const (
	LegacyClear     = "clear"
	LegacyEncrypted = "encrypted"
)

// ResponseHead is a response without its body.
type ResponseHead struct {
	Status int
	Fields Fields
	Names  iter.Seq[string] // of all fields, in any case
	Body   bool             // false if there is none, or if it is certainly empty
	Length int64            // of the body in bytes; -1 if unknown
}

// HeaderOp is a change to header fields. It replaces all fields of that name with one, or deletes
// them.
type HeaderOp struct {
	Name  string // in lower case
	Value string
	Del   bool
}

// Set returns the change that gives a field one value.
func Set(name, value string) HeaderOp { return HeaderOp{Name: name, Value: value} }

// Del returns the change that deletes a field.
func Del(name string) HeaderOp { return HeaderOp{Name: name, Del: true} }

// Body replaces a message's body. Ops are the changes to its header fields, applied in order.
type Body struct {
	Bytes []byte
	Ops   []HeaderOp
}

// The header fields of the protocol, and the others that the engine reads or changes.
const (
	FieldMLE         = "x-svc-mle"
	FieldResponse    = "x-svc-mle-response"
	FieldResponseKID = "x-svc-mle-response-kid"
	FieldIdempotency = "idempotency-key"
	// FieldInternal reports to core how the request was encrypted. The engine deletes a client's field
	// of this name.
	FieldInternal = "x-svc-int-mle"
	// FieldProof proves to core that the request passed mle-filter. The engine deletes a client's
	// field of this name.
	FieldProof = "x-svc-int-proof"

	// FieldClientAddress forwards the client address to core, and FieldHop authenticates it.
	FieldClientAddress = "x-svc-int-client-address"
	FieldHop           = "x-svc-int-hop"

	// internal is the prefix of the fields between mle-filter and core. They are deleted from
	// messages of clients, and from core's responses to clients.
	internal = "x-svc-int-"

	version      = "v1" // of the encryption
	required     = "required"
	typeJOSE     = "application/jose"
	typeJSON     = "application/json"
	fieldLogin   = "authorization"
	fieldVersion = "causeway-version"
	fieldType    = "content-type"
	fieldSize    = "content-length"
	fieldVary    = "vary"
	fieldCoding  = "content-encoding"
)

// withheldFields are the request fields that core must not receive if the response will be
// encrypted. With them core could compress the response, send part of it, or send 304.
var withheldFields = []string{"accept-encoding", "range", "if-range", "if-none-match", "if-modified-since"}

// ciphertextFields are the request fields that describe the body as the client sent it.
var ciphertextFields = []string{fieldCoding, "content-digest", "repr-digest", "digest", "content-md5"}

// plaintextFields are the response fields that describe the plaintext, reveal its content, or make
// a client or cache store it. They are deleted from encrypted responses. They are listed, because a
// list of allowed fields does not suffice: Envoy's forward_rules can hide fields from the filter.
var plaintextFields = []string{
	"etag", "last-modified", fieldCoding, "content-digest", "repr-digest", "digest", "content-md5", "accept-ranges",
	"content-range", "content-language", "content-location", "content-disposition", "link", "signature",
	"signature-input", "set-cookie",
}

// deleteInternal deletes the fields between mle-filter and core from a received message.
func deleteInternal(names iter.Seq[string]) (ops []HeaderOp) {
	if names == nil {
		return nil
	}
	for name := range names {
		if len(name) >= len(internal) && strings.EqualFold(name[:len(internal)], internal) {
			ops = append(ops, Del(strings.ToLower(name)))
		}
	}
	return ops
}

func deleteAll(names ...string) []HeaderOp {
	ops := make([]HeaderOp, len(names))
	for i, name := range names {
		ops[i] = Del(name)
	}
	return ops
}
