package load

import (
	"bytes"
	"fmt"
	"strings"
)

// slotMark stands in a request's text where each request differs.
const slotMark = "{slot}"

// Request is the bytes of a request with at most one slot, which is patched before each sending.
type Request struct {
	bytes []byte
	slot  int // offset
	width int
}

// NewRequest builds a request to addr (host:port). headers are whole lines; "{slot}" in the path or in a header line stands for width
// bytes that Fill provides later.
func NewRequest(method, addr, path string, headers []string, body string, width int) (*Request, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, addr)
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	head := b.String()
	switch n := strings.Count(head, slotMark); {
	case n == 0 && width == 0:
		return &Request{bytes: []byte(head + body)}, nil
	case n != 1 || width == 0:
		return nil, fmt.Errorf("load: %d slots of width %d in a request", n, width)
	}
	r := &Request{slot: strings.Index(head, slotMark), width: width}
	head = strings.Replace(head, slotMark, string(bytes.Repeat([]byte{'0'}, width)), 1)
	r.bytes = []byte(head + body)
	return r, nil
}

// clone gives a connection bytes of its own to patch.
func (r *Request) clone() *Request {
	c := *r
	c.bytes = bytes.Clone(r.bytes)
	return &c
}

// fill returns the bytes to send.
func (r *Request) fill(f func(slot []byte, n uint64), n uint64) []byte {
	if r.width > 0 && f != nil {
		f(r.bytes[r.slot:r.slot+r.width], n)
	}
	return r.bytes
}
