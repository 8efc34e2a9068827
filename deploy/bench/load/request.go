package load

import (
	"bytes"
	"fmt"
	"strings"
)

// slotMark stands for the bytes in which each request differs.
const slotMark = "{slot}"

// Request is a template of requests with slots. Before a request is sent, all its slots are filled
// with the same bytes.
type Request struct {
	bytes []byte
	slots []int // offsets
	width int
	last  func(request []byte) // nil for none
}

// NewRequest builds a request to addr (host:port). headers are whole lines. "{slot}" in the path,
// in a header line or in the body stands for width bytes that Fill writes later.
func NewRequest(method, addr, path string, headers []string, body string, width int) (*Request, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, addr)
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body)+strings.Count(body, slotMark)*(width-len(slotMark)))
	}
	b.WriteString("\r\n" + body)
	parts := strings.Split(b.String(), slotMark)
	if (len(parts) > 1) != (width > 0) {
		return nil, fmt.Errorf("load: got %d slots of width %d: want slots if and only if width is not 0", len(parts)-1,
			width)
	}
	r := &Request{bytes: []byte(parts[0]), width: width}
	for _, part := range parts[1:] {
		r.slots = append(r.slots, len(r.bytes))
		r.bytes = append(r.bytes, bytes.Repeat([]byte{'0'}, width)...)
		r.bytes = append(r.bytes, part...)
	}
	return r, nil
}

// Finally sets f, which changes every request after its slots are filled, for example to sign it. f
// must not change the length. The connections call f concurrently.
func (r *Request) Finally(f func(request []byte)) { r.last = f }

// clone returns a copy with its own bytes to patch.
func (r *Request) clone() *Request {
	c := *r
	c.bytes = bytes.Clone(r.bytes)
	return &c
}

// fill fills the slots by f, with the number n of the request, and returns the bytes to send.
func (r *Request) fill(f func(slot []byte, n uint64), n uint64) []byte {
	if len(r.slots) > 0 && f != nil {
		first := r.bytes[r.slots[0] : r.slots[0]+r.width]
		f(first, n)
		for _, at := range r.slots[1:] {
			copy(r.bytes[at:], first)
		}
	}
	if r.last != nil {
		r.last(r.bytes)
	}
	return r.bytes
}

// Bytes returns the request with its slots filled once, for Send.
func (r *Request) Bytes(f func(slot []byte, n uint64), n uint64) []byte { return r.clone().fill(f, n) }
