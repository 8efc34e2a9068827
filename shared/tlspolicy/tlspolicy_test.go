package tlspolicy_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

func TestServer(t *testing.T) {
	t.Parallel()
	cert := mustCertificate(t)
	tests := []struct {
		name    string
		client  tls.Config
		version uint16 // 0: refused
		proto   string
	}{
		{"Prefers13", tls.Config{NextProtos: []string{"http/1.1", "h2"}}, tls.VersionTLS13, "h2"},
		{"Speaks12", tls.Config{MaxVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}, tls.VersionTLS12, "http/1.1"},
		{"Refuses11", tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, 0, ""},
		{
			"RefusesCBC",
			tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA}},
			0, "",
		},
		{
			"RefusesStaticRSA",
			tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256}},
			0, "",
		},
		{
			"TakesChaCha",
			tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256}},
			tls.VersionTLS12, "",
		},
	}
	for i := range tests {
		tt := &tests[i]
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.client.InsecureSkipVerify = true // the policy is under test, not the certificate
			state, err := handshake(t, cert, &tt.client)
			if got := state.Version; got != tt.version || (err == nil) != (tt.version != 0) {
				t.Fatalf("version: got %#x, %v, want %#x", got, err, tt.version)
			}
			if got := state.NegotiatedProtocol; got != tt.proto {
				t.Errorf("protocol: got %q, want %q", got, tt.proto)
			}
		})
	}
}

func TestServerTLS12SuitesAreForwardSecretAEAD(t *testing.T) {
	t.Parallel()
	secure := map[uint16]bool{}
	for _, s := range tls.CipherSuites() {
		secure[s.ID] = true
	}
	for _, s := range tlspolicy.Server(nil).CipherSuites {
		if !secure[s] {
			t.Errorf("%s is not a secure suite", tls.CipherSuiteName(s))
		}
	}
}

// handshake returns what the client negotiated, or the zero state and its error.
func handshake(t *testing.T, cert *tls.Certificate, client *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	near, far := net.Pipe()
	server := tls.Server(far, tlspolicy.Server(func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return cert, nil }))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.HandshakeContext(t.Context())
		_ = far.Close()
	}()
	conn := tls.Client(near, client)
	err := conn.HandshakeContext(t.Context())
	state := conn.ConnectionState()
	_ = near.Close()
	<-done
	if err != nil {
		return tls.ConnectionState{}, err
	}
	return state, nil
}

func mustCertificate(t *testing.T) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
