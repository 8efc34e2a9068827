package httpx_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"net/http/httptest"
	"testing"

	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// The settings of HTTP/2 that bound a connection (RFC 9113, 6.5.2).
const (
	maxConcurrentStreams = 3
	maxFrameSize         = 5
)

// mustServeHTTP2 starts a server with HTTPS and returns its address and its roots.
func mustServeHTTP2(t *testing.T) (at string, roots *x509.CertPool) {
	t.Helper()
	fixture := httptest.NewUnstartedServer(nil) // for its certificate
	fixture.StartTLS()
	t.Cleanup(fixture.Close)
	cert := fixture.TLS.Certificates[0]
	roots = x509.NewCertPool()
	roots.AddCert(fixture.Certificate())
	s := httpx.NewServer(httpx.Options{
		TLS:     tlspolicy.Server(func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &cert, nil }),
		Handler: hello,
	})
	s.CountPrivate()
	return mustStart(t, s), roots
}

// settings returns the settings with which a server begins a connection by HTTP/2. They are nil if
// the server closes the connection.
func (p peer) settings(t *testing.T, roots *x509.CertPool) map[uint16]uint32 {
	t.Helper()
	secure := tls.Client(p.Conn, &tls.Config{RootCAs: roots, ServerName: "example.com", NextProtos: []string{"h2"}})
	const preface, noSettings = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	if _, err := io.WriteString(secure, preface+noSettings); err != nil {
		return nil
	}
	var head [9]byte // length, type, flags, stream
	if _, err := io.ReadFull(secure, head[:]); err != nil {
		return nil
	}
	const kindSettings, size = 4, 6
	payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
	if _, err := io.ReadFull(secure, payload); err != nil || head[3] != kindSettings {
		t.Errorf("got the frame %x, %v, want settings", head, err)
		return nil
	}
	out := map[uint16]uint32{}
	for ; len(payload) >= size; payload = payload[size:] {
		out[binary.BigEndian.Uint16(payload)] = binary.BigEndian.Uint32(payload[2:])
	}
	return out
}

// TestHTTP2ConnectionsAreSmall: a client without a key can hold each stream and each frame of its
// connections open. So a connection has few and small ones.
func TestHTTP2ConnectionsAreSmall(t *testing.T) {
	t.Parallel()
	at, roots := mustServeHTTP2(t)
	got := mustConnect(t, "127.0.1.1", at).settings(t, roots)
	if got[maxConcurrentStreams] != 32 || got[maxFrameSize] != 16<<10 {
		t.Errorf("got %v, want at most 32 streams, and frames of 16 KiB", got)
	}
}

// TestHTTP2ConnectionsOfASite: a connection by HTTP/2 counts as eight connections of its site. A
// closed one makes room for another one.
func TestHTTP2ConnectionsOfASite(t *testing.T) {
	t.Parallel()
	at, roots := mustServeHTTP2(t)
	var first peer
	for i := range httpx.MostConnections / 8 {
		p := mustConnect(t, "127.0.1.1", at)
		if p.settings(t, roots) == nil {
			t.Fatalf("connection %d is not served", i)
		}
		if i == 0 {
			first = p
		}
	}
	if mustConnect(t, "127.0.1.2", at).settings(t, roots) != nil {
		t.Error("one more is served")
	}
	if mustConnect(t, "127.0.2.1", at).settings(t, roots) == nil {
		t.Error("another site is not served")
	}
	_ = first.Close() // no request is in progress
	programtest.WaitFor(t, "a connection of the site", func() bool {
		return mustConnect(t, "127.0.1.2", at).settings(t, roots) != nil
	})
}
