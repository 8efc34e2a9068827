package httpx_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// http2Client is a connection by HTTP/2 that sends any header fields.
type http2Client struct {
	framer  *http2.Framer
	encoded bytes.Buffer
	encoder *hpack.Encoder
	stream  uint32 // of the last request
}

func newHTTP2Client(t *testing.T) *http2Client {
	t.Helper()
	at, roots := mustServeHTTP2(t)
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "example.com", NextProtos: []string{"h2"}}}).
		DialContext(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := &http2Client{framer: http2.NewFramer(conn, conn)}
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.encoder = hpack.NewEncoder(&c.encoded)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := c.framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	return c
}

// get sends a GET with further header fields, and returns the header of the response. If the server
// ends the connection, it returns the reason as a field.
func (c *http2Client) get(t *testing.T, more ...hpack.HeaderField) http.Header {
	t.Helper()
	if c.stream++; c.stream%2 == 0 {
		c.stream++
	}
	c.encoded.Reset()
	for _, f := range append([]hpack.HeaderField{
		{Name: ":method", Value: "GET"},
		{Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: "example.com"},
		{Name: ":path", Value: "/"},
	}, more...) {
		if err := c.encoder.WriteField(f); err != nil {
			t.Fatal(err)
		}
	}
	first, rest := c.encoded.Bytes(), []byte(nil)
	const most = 16 << 10 // bytes of a frame
	if len(first) > most {
		first, rest = first[:most], first[most:]
	}
	head := http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: first, EndStream: true, EndHeaders: len(rest) == 0}
	if err := c.framer.WriteHeaders(head); err != nil {
		t.Fatal(err)
	}
	if len(rest) > 0 {
		if err := c.framer.WriteContinuation(c.stream, true, rest); err != nil {
			t.Fatal(err)
		}
	}
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if ended, ok := frame.(*http2.GoAwayFrame); ok {
			return http.Header{"Goaway": {ended.ErrCode.String()}}
		}
		if got, ok := frame.(*http2.MetaHeadersFrame); ok && got.StreamID == c.stream {
			h := http.Header{}
			for _, f := range got.Fields {
				h.Add(f.Name, f.Value)
			}
			return h
		}
	}
}

// TestOwnResponsesOfHTTP2 records a limit of net/http. It responds itself to two kinds of requests
// by HTTP/2, and ends the connection without a response after a third. It calls none of our code.
// If this test fails, net/http lets a handler respond: then remove the exception from hsts.go and
// the documents.
func TestOwnResponsesOfHTTP2(t *testing.T) {
	t.Parallel()
	c := newHTTP2Client(t)
	long := hpack.HeaderField{Name: "a", Value: strings.Repeat("~", 4<<10)}
	for _, own := range []struct {
		name, status string
		fields       []hpack.HeaderField
	}{
		{"a field of HTTP/1.1", "400", []hpack.HeaderField{{Name: "connection", Value: "close"}}},
		{"too long", "431", slices.Repeat([]hpack.HeaderField{long}, 5)},
	} {
		got := c.get(t, own.fields...)
		if got.Get(":status") != own.status || got.Get(tlspolicy.HSTSHeader) != "" ||
			got.Get("Content-Type") == "application/json" {
			t.Errorf("%s: got %v, want net/http's own %s", own.name, got, own.status)
		}
		if got := c.get(t); got.Get(":status") != "200" || got.Get(tlspolicy.HSTSHeader) != tlspolicy.HSTS {
			t.Errorf("a request after it: got %v, want 200 with HSTS", got)
		}
	}
	one := hpack.HeaderField{Name: "a", Value: strings.Repeat("~", 17_000)}
	if got := c.get(t, one); got.Get("Goaway") != "COMPRESSION_ERROR" {
		t.Errorf("one field above 16 KiB: got %v, want a connection that ends", got)
	}
}
