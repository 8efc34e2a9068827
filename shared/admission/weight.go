package admission

import (
	"bytes"
	"net/http"
)

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

const (
	// firstBuffer is the length of the first buffer of a body.
	firstBuffer = 1 << 10
	// leastBytes is the least that an unfinished body holds, even if no byte of it has arrived. It is
	// for the goroutine of its request, its buffers and an ordinary head. It bounds the number of
	// unfinished bodies.
	leastBytes = 12 << 10
	// ordinaryHead is the part of leastBytes for the header fields.
	ordinaryHead = 4 << 10
	// perField is how many bytes a header field needs besides its text.
	perField = 128
)

// baseOf returns how many bytes an unfinished request with these header fields needs without its
// body. The fields hold their text twice, because a key is also kept in its canonical form.
func baseOf(h http.Header) int64 {
	head := int64(0)
	for name, values := range h {
		for _, value := range values {
			head += perField + 2*int64(len(name)+len(value))
		}
	}
	return leastBytes - firstBuffer + max(head-ordinaryHead, 0)
}
