package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// TestNoResponse records the requests to which Envoy sends no response. They reach no upstream.
// Over HTTP/2 such a request ends its stream, and the next one on the connection is served. If a
// row fails because there is a response, remove it from the README.
func TestNoResponse(t *testing.T) {
	t.Parallel()
	b := served(t)
	conn := b.connect(t, &net.Dialer{}, http2.NextProtoTLS)
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	long := hpack.HeaderField{Name: "x-a", Value: strings.Repeat("~", 4<<10)}
	stream := uint32(1)
	for name, more := range map[string][]hpack.HeaderField{
		"a field of HTTP/1.1": {{Name: "connection", Value: "close"}},
		"an upper case name":  {{Name: "X-A", Value: "b"}},
		"an unknown pseudo":   {{Name: ":a", Value: "b"}},
		"an underscore":       {{Name: "x_a", Value: "b"}},
		"too long":            slices.Repeat([]hpack.HeaderField{long}, 5),
		"too many fields":     slices.Repeat([]hpack.HeaderField{{Name: "x-a", Value: "b"}}, 101),
	} {
		if got := requestWith(t, framer, stream, more); got != "reset" {
			t.Errorf("%s: got %s, want no response", name, got)
		}
		if got := requestWith(t, framer, stream+2, nil); got != "200" {
			t.Fatalf("a request after it: got %s", got)
		}
		stream += 4
	}
	_, before := b.core.last()
	b.breaksChunk(t)
	if _, after := b.core.last(); after != before || before != 6 {
		t.Errorf("core got %d and then %d requests, want the 6 that were served", before, after)
	}
}

// breaksChunk sends a body with a broken chunk over HTTP/1.1, on a route with the filter.
func (b *testbed) breaksChunk(t *testing.T) {
	t.Helper()
	conn, err := b.handshake(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn,
		"POST /v1/x HTTP/1.1\r\nHost: "+host+"\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nnone\r\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
		_ = got.Body.Close()
		t.Errorf("a broken chunk: got %d", got.StatusCode)
	}
}

// requestWith sends a request with further header fields over HTTP/2. It returns the status of the
// response, or "reset" if the stream ends without one.
func requestWith(t *testing.T, framer *http2.Framer, stream uint32, more []hpack.HeaderField) string {
	t.Helper()
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	encoder.SetMaxDynamicTableSize(0) // each head is complete, also if Envoy skips the one before it
	for _, f := range append([]hpack.HeaderField{
		{Name: ":method", Value: "GET"},
		{Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: host},
		{Name: ":path", Value: "/v1/x"},
	}, more...) {
		if err := encoder.WriteField(f); err != nil {
			t.Fatal(err)
		}
	}
	const most = 16 << 10 // bytes of a frame
	first := head.Next(most)
	err := framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: first, EndStream: true, EndHeaders: head.Len() == 0,
	})
	for err == nil && head.Len() > 0 {
		part := head.Next(most)
		err = framer.WriteContinuation(stream, head.Len() == 0, part)
	}
	if err != nil {
		t.Fatal(err)
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return err.Error()
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			if f.StreamID == stream {
				return f.PseudoValue("status")
			}
		case *http2.RSTStreamFrame:
			if f.StreamID == stream {
				return "reset"
			}
		}
	}
}
