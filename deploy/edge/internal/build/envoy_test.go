package build_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/deploy/edge/internal/build"
	"github.com/causeway-pay/causeway/deploy/edge/internal/check"
	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/envoytest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestChallenges checks that a handshake for acme-tls/1 reaches the challenge server unchanged, and
// every other one Envoy.
func TestChallenges(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "b") //nolint:usetesting // the name of a socket must not be long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	ca := certtest.Root(t).Intermediate(t)
	served, challenge := ca.Issue(t, certtest.Hosts("a.example")), ca.Issue(t, certtest.Hosts("a.example"))
	files := served.Write(t, dir, "edge")
	serveChallenge(t, filepath.Join(dir, "acme.sock"), challenge.Pair(t).Certificate)
	at := programtest.Host(t) + ":8443"
	c, err := config.Decode("c", fmt.Appendf(nil, `hosts: [a.example]
listen: {https: "%s", http: ""}
certificates: {acme: {directory: "https://acme.example/d", challenges: [tls-alpn-01], listen: "unix:%[2]s/acme.sock"}}
upstreams: {core: {address: "unix:%[2]s/core.sock"}}
routes: [{path: /v1/**, upstream: core, mle: off}]
`, at, dir))
	if err != nil {
		t.Fatal(err)
	}
	static, err := build.Static(c, build.Node{ID: "e", Admin: "127.0.0.1:0"},
		[]build.Certificate{build.FromFiles(files.Chain, files.Key)})
	if err != nil {
		t.Fatal(err)
	}
	text, err := check.YAML(static)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "envoy.yaml")
	certtest.Replace(t, file, text)
	envoytest.Start(t, file).Listeners(t)
	for name, want := range map[string]*certtest.Issued{"acme-tls/1": challenge, "h2": served, "http/1.1": served} {
		dialer := &tls.Dialer{
			Config: &tls.Config{
				RootCAs: ca.Pool(), ServerName: "a.example", NextProtos: []string{name}, MinVersion: tls.VersionTLS12,
			},
		}
		conn, err := dialer.DialContext(t.Context(), "tcp", at)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := conn.(*tls.Conn).ConnectionState()
		if !bytes.Equal(got.PeerCertificates[0].Raw, want.Leaf.Raw) || got.NegotiatedProtocol != name {
			t.Errorf("%s: got the protocol %q and the certificate %s, want %s", name, got.NegotiatedProtocol,
				got.PeerCertificates[0].SerialNumber, want.Leaf.SerialNumber)
		}
		_ = conn.Close()
	}
}

// serveChallenge runs a challenge server on the unix socket path. It presents cert.
func serveChallenge(t *testing.T, path string, cert tls.Certificate) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = tls.Server(c, &tls.Config{
				Certificates: []tls.Certificate{cert}, NextProtos: []string{"acme-tls/1"}, MinVersion: tls.VersionTLS12,
			}).HandshakeContext(context.Background())
		}
	}()
}
