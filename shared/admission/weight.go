package admission

import "bytes"

const (
	// copies is how many times a program holds the bytes of a body. They are the body, the strings of
	// its decoded values, and the request that it makes of them.
	copies = 3
	// perElement and perValue are how many bytes an XML element and a JSON value need besides their
	// texts. The largest are the element trees of provider-a, of 200 bytes each.
	perElement = 256
	perValue   = 128
	// mostValues bounds the bytes of all values, because the parsers refuse a body with more. See
	// safexml.MaxNodes and jsonscan.MaxValues.
	mostValues = 5 << 18
)

// weight returns how many bytes of memory a program may need for a complete body, at most 2 MiB for
// a body of 256 KiB. It counts the signs that separate values, even inside texts, so it needs no
// memory. A short body of empty elements needs fifty times its length.
func weight(body []byte) int64 {
	values := int64(bytes.Count(body, []byte("<"))) * perElement
	for _, sign := range []string{",", "{", "["} {
		values += int64(bytes.Count(body, []byte(sign))) * perValue
	}
	return copies*int64(len(body)) + min(values, mostValues)
}
