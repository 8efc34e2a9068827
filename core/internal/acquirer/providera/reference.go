package providera

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"time"
	"unicode/utf16"
)

// longestInvoice is the greatest length of an invoice number and of a refId.
const longestInvoice = 20

// digestPrefix begins the invoice number of a long reference. No reference of the engine begins so.
const digestPrefix = "x-"

var digestEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// invoiceNumber returns the invoice number of a reference: the reference itself if it fits, and
// else 90 bits of its digest. The references of voids are too long, and so is that of a payment
// after its 99th attempt.
func invoiceNumber(reference string) string {
	if len(reference) <= longestInvoice {
		return reference
	}
	sum := sha256.Sum256([]byte(reference))
	return digestPrefix + digestEncoding.EncodeToString(sum[:])[:longestInvoice-len(digestPrefix)]
}

// tagOf returns the tag of a request that is prepared at a time. It bounds the search in settled
// batches.
func tagOf(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// timeOf returns the time of a tag; false if the tag has none.
func timeOf(tag string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, tag)
	return t.UTC(), err == nil
}

// cut shortens s to at most n UTF-16 units, the API's unit of text length. It does not split a
// character.
func cut(s string, n int) string {
	s = strings.TrimSpace(s)
	for i, r := range s {
		if n -= utf16.RuneLen(r); n < 0 {
			return strings.TrimSpace(s[:i])
		}
	}
	return s
}
