package httphop

import (
	"net/http"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
)

// fields implements engine.Fields for an http.Header.
type fields http.Header

// Values implements engine.Fields.
func (f fields) Values(name string) []string { return f[spelled(name)] }

// apply makes changes to header fields. The length of a body is a property of the message, not a
// field.
func apply(header http.Header, ops []engine.HeaderOp) {
	for _, op := range ops {
		if op.Del {
			delete(header, spelled(op.Name))
			continue
		}
		header[spelled(op.Name)] = []string{op.Value}
	}
}

// spelled returns the canonical name of a field. Computing it for every request in the clear would
// cost more than all other work on that request.
func spelled(name string) string {
	if known, ok := spellings[name]; ok {
		return known
	}
	return http.CanonicalHeaderKey(name)
}

var spellings = func() map[string]string {
	known := map[string]string{}
	for _, name := range []string{
		engine.FieldMLE, engine.FieldResponse, engine.FieldResponseKID, engine.FieldInternal, engine.FieldProof,
		engine.FieldClientAddress, engine.FieldHop, engine.FieldIdempotency, "content-type", "content-encoding",
	} {
		known[name] = http.CanonicalHeaderKey(name)
	}
	return known
}()
