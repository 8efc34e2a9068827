package idempotency

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/jsonscan"
)

// Canonical returns the canonical form of a request body. Two bodies with equal forms are the same
// request: names are sorted, and white space and escapes are removed. An empty body counts as an
// empty object.
//
// Each number stays as it was sent. A service that accepts only integers accepts only one spelling
// of each, and parsing 250 kB of subnormal numbers would take half a second. Canonical returns nil
// if the body is not JSON or nests deeper than jsonscan.MaxDepth, because it copies each object
// once for each level around it.
func Canonical(body []byte) []byte {
	if len(body) == 0 {
		return []byte("{}")
	}
	if jsonscan.TooDeep(body) {
		return nil
	}
	canonical := jsontext.Value(bytes.Clone(body))
	err := canonical.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		return nil
	}
	return canonical
}
