package admission_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// http2Client is a connection by HTTP/2. Like some clients, it sends a whole body before it reads
// the response.
type http2Client struct {
	framer    *http2.Framer
	encoded   bytes.Buffer
	encoder   *hpack.Encoder
	responses map[uint32]*http2Response
}

type http2Response struct {
	status, length, body string
	ended                bool
}

func dialHTTP2(t *testing.T, at string, roots *x509.CertPool) *http2Client {
	t.Helper()
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "example.com", NextProtos: []string{"h2"}}}).
		DialContext(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := &http2Client{framer: http2.NewFramer(conn, conn), responses: map[uint32]*http2Response{}}
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

// begin sends the head of a request. A length of -1 is not announced.
func (c *http2Client) begin(t *testing.T, stream uint32, path string, length int) {
	t.Helper()
	c.encoded.Reset()
	fields := []hpack.HeaderField{
		{Name: ":method", Value: "POST"},
		{Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: "example.com"},
		{Name: ":path", Value: path},
	}
	if length >= 0 {
		fields = append(fields, hpack.HeaderField{Name: "content-length", Value: strconv.Itoa(length)})
	}
	for _, f := range fields {
		if err := c.encoder.WriteField(f); err != nil {
			t.Fatal(err)
		}
	}
	c.responses[stream] = &http2Response{}
	head := http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: c.encoded.Bytes(), EndHeaders: true, EndStream: length == 0,
	}
	if err := c.framer.WriteHeaders(head); err != nil {
		t.Fatal(err)
	}
}

// post sends a request with a body, which the window of the connection must hold, and returns its
// response.
func (c *http2Client) post(t *testing.T, stream uint32, path string, size int, announced bool) *http2Response {
	t.Helper()
	length := size
	if !announced {
		length = -1
	}
	c.begin(t, stream, path, length)
	for n := 0; size > 0; size -= n {
		n = min(size, 16<<10) // bytes of a frame
		if err := c.framer.WriteData(stream, n == size, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	return c.response(t, stream)
}

// response reads frames until a response is complete.
func (c *http2Client) response(t *testing.T, stream uint32) *http2Response {
	t.Helper()
	for !c.responses[stream].ended {
		c.read(t)
	}
	return c.responses[stream]
}

// read reads one frame. A server that ends the connection, or a stream before its response, fails
// the test.
func (c *http2Client) read(t *testing.T) {
	t.Helper()
	frame, err := c.framer.ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	switch f := frame.(type) {
	case *http2.GoAwayFrame:
		t.Fatalf("got %v, want an open connection", f)
	case *http2.RSTStreamFrame:
		if !c.responses[f.StreamID].ended || f.ErrCode != http2.ErrCodeNo {
			t.Fatalf("got %v, want a complete response", f)
		}
	case *http2.MetaHeadersFrame:
		r := c.responses[f.StreamID]
		r.status, r.ended = f.PseudoValue("status"), f.StreamEnded()
		for _, field := range f.RegularFields() {
			if field.Name == "content-length" {
				r.length = field.Value
			}
		}
	case *http2.DataFrame:
		r := c.responses[f.StreamID]
		r.body, r.ended = r.body+string(f.Data()), f.StreamEnded()
	}
}

// serveHTTP2 serves h by HTTPS and returns the address and the roots of the server.
func serveHTTP2(t *testing.T, h http.Handler) (at string, roots *x509.CertPool) {
	t.Helper()
	fixture := httptest.NewUnstartedServer(nil) // for its certificate
	fixture.StartTLS()
	t.Cleanup(fixture.Close)
	cert := fixture.TLS.Certificates[0]
	roots = x509.NewCertPool()
	roots.AddCert(fixture.Certificate())
	s := httpx.NewServer(httpx.Options{
		TLS:     tlspolicy.Server(func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &cert, nil }),
		Handler: h,
	})
	addr, err := s.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(t.Context()) }) // at the end only its certificate matters
	return addr.String(), roots
}

// TestTooLargeByHTTP2: the response to a too large body arrives whole, and the server has read the
// rest of the body by then. The connection stays open for the other streams.
func TestTooLargeByHTTP2(t *testing.T) {
	t.Parallel()
	const limit, refusal = 1000, "too large"
	begun, leave := make(chan struct{}), make(chan struct{})
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(begun)
			<-leave
		}
		if _, err := admission.ReadBody(w, r, limit); !errors.Is(err, admission.ErrTooLarge) {
			return
		}
		if n, err := r.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("the rest of the body: got %d bytes, %v, want its end", n, err)
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(refusal)))
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = io.WriteString(w, refusal)
	}
	limiter := admission.New(admission.Config{Slots: 10})
	at, roots := serveHTTP2(t, limiter.Handler(http.HandlerFunc(full), http.HandlerFunc(handler)))
	c := dialHTTP2(t, at, roots)
	c.begin(t, 1, "/slow", 0)
	<-begun
	next := uint32(3)
	for size, announced := range map[int]bool{limit + 1: true, limit + 2: false, 20_000: true, 20_001: false} {
		got := c.post(t, next, "/", size, announced)
		if got.status != "413" || got.body != refusal || got.length != strconv.Itoa(len(refusal)) {
			t.Errorf("%d bytes, announced %t: got %+v, want a whole 413", size, announced, got)
		}
		next += 2
	}
	close(leave)
	if got := c.response(t, 1); got.status != "200" {
		t.Errorf("another stream: got %+v, want 200", got)
	}
	if got := c.post(t, next, "/", limit, true); got.status != "200" {
		t.Errorf("the next request: got %+v, want 200", got)
	}
}

// TestRefusedByHTTP2: after the refusal of an unfinished body, the connection stays open for the
// other streams.
func TestRefusedByHTTP2(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]admission.Config{
		"slow": {Grace: time.Millisecond},
		"busy": {Bytes: 1 << 10}, // less than any body holds
	} {
		handler := func(w http.ResponseWriter, r *http.Request) {
			if _, err := admission.ReadBody(w, r, 1000); err != nil {
				w.WriteHeader(http.StatusTeapot)
			}
		}
		at, roots := serveHTTP2(t, admission.New(cfg).Handler(http.HandlerFunc(full), http.HandlerFunc(handler)))
		c := dialHTTP2(t, at, roots)
		for stream := uint32(1); stream < 7; stream += 2 {
			c.begin(t, stream, "/", 1000)
			if got := c.response(t, stream); got.status != "418" {
				t.Errorf("%s: got %+v, want a refusal", name, got)
			}
		}
		c.begin(t, 7, "/", 0)
		if got := c.response(t, 7); got.status != "200" {
			t.Errorf("%s, the next request: got %+v, want 200", name, got)
		}
	}
}
