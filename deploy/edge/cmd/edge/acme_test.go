package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"testing"

	"github.com/causeway-pay/causeway/deploy/edge/acmetest"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
)

// TestFirstCertificateOfAnAuthority starts without a certificate. Envoy must pass the challenges
// before it can serve TLS.
func TestFirstCertificateOfAnAuthority(t *testing.T) {
	t.Parallel()
	for _, challenge := range []string{"http-01", "tls-alpn-01"} {
		t.Run(challenge, func(t *testing.T) { // sequential: certmagic's challenges are shared by the process, by name
			b := newTestbed(t)
			at, _, err := net.SplitHostPort(b.https)
			if err != nil {
				t.Fatal(err)
			}
			authority := acmetest.New(t, acmetest.Options{Address: net.ParseIP(at), HTTP: 8080, TLS: 8443})
			certtest.Replace(t, b.path("acme-ca.pem"), authority.TrustPEM())
			b.certificates = fmt.Sprintf("{publish_ahead: 0s, acme: {directory: %q, ca: %q, challenges: [%s], listen: %q}}",
				authority.Directory(), b.path("acme-ca.pem"), challenge, "unix:"+b.path("a.sock"))
			b.configure(t, "")
			b.run(t)
			e := b.envoy(t)
			e.Wait(t, "does not serve by a certificate of the authority", func() bool {
				conn, err := b.handshake(t, func(c *tls.Config) { c.RootCAs = authority.Roots(t) })
				return err == nil && conn.ConnectionState().PeerCertificates[0].VerifyHostname("trust.example.com") == nil
			})
		})
	}
}
