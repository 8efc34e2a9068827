package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"encoding/pem"
	"os"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// TestCertificateFollowsItsFiles replaces the certificate of a running program, and then its key.
// Until the key is there, the previous pair stays and one error is logged.
func TestCertificateFollowsItsFiles(t *testing.T) {
	t.Parallel()
	next := MustPair(t)
	m, _ := overTLS(t, mustECDSA(t))
	log := &programtest.Log{}
	m.Stderr = log
	present := pairFiles{m.Config.Certificate, m.Config.PrivateKey}
	public, _, stop := run(t, m)
	defer stop()
	addr := strings.TrimPrefix(public, "http://")
	serves := func(want []byte) bool { return bytes.Equal(leafOf(t, addr), want) }
	old, changed := mustRead(t, present.chain), mustRead(t, next.chain)
	if !serves(leafIn(t, old)) {
		t.Fatal("the first certificate is not served")
	}
	certtest.Replace(t, present.chain, changed)
	programtest.WaitFor(t, "an error about half of a pair", func() bool {
		return strings.Contains(log.String(), "the new certificate was rejected")
	})
	if !serves(leafIn(t, old)) {
		t.Error("with half of a pair, another certificate than the previous one is served")
	}
	certtest.Replace(t, present.key, mustRead(t, next.key))
	programtest.WaitFor(t, "the new certificate", func() bool { return serves(leafIn(t, changed)) })
	if got := strings.Count(log.String(), "was rejected"); got != 1 || strings.Contains(log.String(), "PRIVATE") {
		t.Errorf("got %d errors, want 1: %s", got, log.String())
	}
	if got := strings.Count(log.String(), "mle-filter: new certificate"); got != 1 {
		t.Errorf("got %d notices of a new certificate, want 1: %s", got, log.String())
	}
}

// TestRunRefusesOneFileOfAPair starts with one of the two settings.
func TestRunRefusesOneFileOfAPair(t *testing.T) {
	t.Parallel()
	for _, missing := range []string{"certificate", "private_key"} {
		m, _ := overTLS(t, mustECDSA(t))
		if missing == "certificate" {
			m.Config.Certificate = ""
		} else {
			m.Config.PrivateKey = ""
		}
		if err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), missing+" is empty") {
			t.Errorf("got %v, want that %s is empty", err, missing)
		}
	}
}

// pairFiles are the paths of a certificate and its key.
type pairFiles struct{ chain, key string }

func MustPair(t *testing.T) pairFiles {
	t.Helper()
	m, _ := overTLS(t, mustECDSA(t))
	return pairFiles{m.Config.Certificate, m.Config.PrivateKey}
}

func mustECDSA(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// leafIn returns the certificate in the text of a file.
func leafIn(t *testing.T, text []byte) []byte {
	t.Helper()
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatal("got no certificate")
	}
	return block.Bytes
}

// leafOf connects, and returns the server's certificate.
func leafOf(t *testing.T, addr string) []byte {
	t.Helper()
	cfg := tlspolicy.Client(nil)
	cfg.InsecureSkipVerify = true // the test checks the certificate itself
	conn, err := (&tls.Dialer{Config: cfg}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // it was only read
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw
}
