package engine

import (
	"iter"
	"strings"

	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
)

// Fields are the header fields of a message. http.Header is one.
type Fields interface {
	// Values returns the values of a field, whatever the case of its name, in order.
	Values(name string) []string
}

// RequestHead is what is known of a request before its body.
type RequestHead struct {
	Method string
	Path   string // as sent, without the query
	Fields Fields
	Names  iter.Seq[string] // of all the fields that came, in any case
	Body   bool             // whether a body follows; one that is known to be empty does not
	Length int64            // what it is said to measure; -1 when that is not said
	// ClientAddress is the client's IP address, authenticated by the shell; "" if it is not known.
	ClientAddress string
	// Level is what whoever routes the request says of its route, beside the policy; "" for nothing. The stricter holds.
	Level policy.Level
}

// ResponseHead is what is known of an answer before its body.
type ResponseHead struct {
	Status int
	Fields Fields
	Names  iter.Seq[string] // of all the fields that came, in any case
	Body   bool             // whether a body follows; one that is known to be empty does not
	Length int64            // what it is said to measure; -1 when that is not said
}

// HeaderOp is a change to header fields: it sets one, in place of all of that name, or deletes it.
type HeaderOp struct {
	Name  string // in lower case
	Value string
	Del   bool
}

// Set makes a field have one value.
func Set(name, value string) HeaderOp { return HeaderOp{Name: name, Value: value} }

// Del takes a field away.
func Del(name string) HeaderOp { return HeaderOp{Name: name, Del: true} }

// Body is a body to send on in place of the one that came, and the changes to the header fields that go with it, to be made in order.
type Body struct {
	Bytes []byte
	Ops   []HeaderOp
}

// The header fields of the protocol, and those around it.
const (
	FieldMLE         = "x-svc-mle"
	FieldResponse    = "x-svc-mle-response"
	FieldResponseKID = "x-svc-mle-response-kid"
	FieldIdempotency = "idempotency-key"
	// FieldInternal tells core what was encrypted. A client's own never gets through.
	FieldInternal = "x-svc-int-mle"
	// FieldProof tells core that a request came through here. A client's own never gets through either.
	FieldProof = "x-svc-int-proof"

	// FieldClientAddress forwards the client address to core, and FieldHop authenticates it.
	FieldClientAddress = "x-svc-int-client-address"
	FieldHop           = "x-svc-int-hop"

	// internal begins the names of what the filter and core tell each other. Nobody else says such things, or is told them.
	internal = "x-svc-int-"

	version   = "v1"
	required  = "required"
	typeJOSE  = "application/jose"
	typeJSON  = "application/json"
	fieldType = "content-type"
	fieldSize = "content-length"
	fieldVary = "vary"
	fieldCode = "content-encoding"
)

// unasked are the request fields that core must not see when the answer is to be encrypted: they would have it compress, answer in parts, or
// not answer at all.
var unasked = []string{"accept-encoding", "range", "if-range", "if-none-match", "if-modified-since"}

// ofCiphertext are the request fields that are about the body as it was sent.
var ofCiphertext = []string{fieldCode, "content-digest", "repr-digest", "digest", "content-md5"}

// ofPlaintext are the response fields that are about the body as core sent it, give away what is in it, or have somebody keep it. They do not go
// with an answer that is encrypted, nor with the head of one. A list of what may go would hold only for what Envoy's forward_rules show us.
var ofPlaintext = []string{
	"etag", "last-modified", fieldCode, "content-digest", "repr-digest", "digest", "content-md5", "accept-ranges", "content-range",
	"content-language", "content-location", "content-disposition", "link", "signature", "signature-input", "set-cookie",
}

// inside deletes what only the filter and core say to each other of a message that came.
func inside(names iter.Seq[string]) (ops []HeaderOp) {
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

func dels(names ...string) []HeaderOp {
	ops := make([]HeaderOp, len(names))
	for i, name := range names {
		ops[i] = Del(name)
	}
	return ops
}
