package certfile_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"testing"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

func TestHolderServesWhatItHolds(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t)
	below := root.Intermediate(t)
	first, second, withRSA := below.Issue(t), below.Issue(t), below.IssueFor(t, certtest.RSA(t, 2048))
	var h certfile.Holder
	if _, err := h.GetCertificate(&tls.ClientHelloInfo{}); err == nil {
		t.Error("an empty holder gives a certificate")
	}
	h.Hold(first.Pair(t))
	wantServed(t, &h, root, 0, first)
	h.Take(t.Context(), certfile.Update{Refusal: errors.New("refused")})
	wantServed(t, &h, root, 0, first)
	h.Take(t.Context(), certfile.Update{Pairs: []*certfile.Pair{second.Pair(t), withRSA.Pair(t)}})
	wantServed(t, &h, root, 0, second)
	wantServed(t, &h, root, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, withRSA) // for a client with RSA alone
	if got := len(h.Pairs()); got != 2 {
		t.Errorf("got %d pairs, want 2", got)
	}
}

// wantServed makes a handshake, by one suite of TLS 1.2 if it is not 0, and wants this certificate
// and a chain that verifies.
func wantServed(t *testing.T, h *certfile.Holder, root *certtest.Authority, suite uint16, want *certtest.Issued) {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close() //nolint:errcheck // the test is over
	client := &tls.Config{RootCAs: root.Pool(), ServerName: "localhost"}
	if suite != 0 {
		client.MaxVersion, client.CipherSuites = tls.VersionTLS12, []uint16{suite}
	}
	go func() {
		// the client reports the fault
		_ = tls.Server(far, tlspolicy.Server(h.GetCertificate)).HandshakeContext(context.WithoutCancel(t.Context()))
		_ = far.Close()
	}()
	conn := tls.Client(near, client)
	if err := conn.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := conn.ConnectionState().PeerCertificates[0]; !got.Equal(want.Leaf) {
		t.Errorf("got serial %v, want %v", got.SerialNumber, want.Leaf.SerialNumber)
	}
	if got := len(conn.ConnectionState().PeerCertificates); got != len(want.Chain) {
		t.Errorf("got %d certificates, want %d", got, len(want.Chain))
	}
}
