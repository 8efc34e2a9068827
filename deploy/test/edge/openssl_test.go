package edge_test

import (
	"bytes"
	"crypto/x509"
	"os/exec"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/certfile/certtest"
)

// prints are openssl's two hashes of a certificate, in the form of the published fingerprints.
type prints struct{ fingerprint, spki string }

// openssl runs the program on a certificate.
func openssl(t *testing.T, of *x509.Certificate) prints {
	t.Helper()
	pipe := func(script string) string {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
		cmd.Stdin = bytes.NewReader(certtest.PEM(of))
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("openssl: %v (this test needs it on PATH)", err)
		}
		return strings.TrimSpace(string(out))
	}
	_, digest, _ := strings.Cut(pipe("openssl x509 -noout -fingerprint -sha256"), "=")
	return prints{
		fingerprint: strings.ToLower(strings.ReplaceAll(digest, ":", "")),
		spki: pipe("openssl x509 -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | " +
			"openssl base64"),
	}
}
