package tlspolicy_test

import (
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
	"github.com/causeway-pay/causeway/shared/tlspolicy/tlspolicytest"
)

func TestServerTakesWhatThePolicySays(t *testing.T) {
	t.Parallel()
	policies := map[string]tlspolicy.Policy{
		"Whole": {}, "1.3": mustNarrow(t, "1.3"), "Two": mustNarrow(t, "", ecdsaAES128, rsaAES256),
	}
	keys := map[string]crypto.Signer{"ECDSA": mustECDSA(t, elliptic.P256()), "RSA": mustRSA(t)}
	for name, p := range policies {
		for algorithm, key := range keys {
			t.Run(name+" "+algorithm, func(t *testing.T) {
				t.Parallel()
				tlspolicytest.Obeys(t, mustServe(t, p.Server(serving(t, key))), algorithm, p)
			})
		}
	}
}

// A plain Go server has the faults that Obeys looks for.
func TestEnumerateFindsWhatGoWouldTake(t *testing.T) {
	t.Parallel()
	addr := mustServe(t, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: serving(t, mustRSA(t))})
	for _, id := range tlspolicytest.Enumerate(t, addr, tls.VersionTLS12) {
		if id == tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA {
			return
		}
	}
	t.Error("no CBC found")
}

func TestServerIsSpokenToByToday(t *testing.T) {
	t.Parallel()
	addr := mustServe(t, tlspolicy.Server(serving(t, mustECDSA(t, elliptic.P384()))))
	cache := tls.NewLRUClientSessionCache(8)
	for name, tt := range map[string]struct {
		protos []string
		latest uint16
		proto  string
	}{
		"Today":            {[]string{"http/1.1", "h2"}, tls.VersionTLS13, "h2"},
		"HTTP/1.1":         {[]string{"http/1.1"}, tls.VersionTLS13, "http/1.1"},
		"HTTP/1.0":         {[]string{"http/1.0"}, tls.VersionTLS13, "http/1.0"}, // curl, if it must send HTTP/1.0
		"Without ALPN":     {nil, tls.VersionTLS13, ""},
		"1.2":              {[]string{"h2"}, tls.VersionTLS12, "h2"},
		"1.2 and HTTP/1.1": {[]string{"http/1.1"}, tls.VersionTLS12, "http/1.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // the second could resume
				got, err := dial(t, addr, &tls.Config{
					InsecureSkipVerify: true, NextProtos: tt.protos, MaxVersion: tt.latest, ClientSessionCache: cache,
					ServerName: name,
				})
				if err != nil {
					t.Fatal(err)
				}
				if got.Version != tt.latest || got.NegotiatedProtocol != tt.proto || got.DidResume {
					t.Errorf("got %s, %q, resumed %v, want %s, %q", tls.VersionName(got.Version), got.NegotiatedProtocol,
						got.DidResume, tls.VersionName(tt.latest), tt.proto)
				}
				if tt.latest == tls.VersionTLS13 && got.CurveID != tls.X25519MLKEM768 {
					t.Errorf("key exchange: got %v, want %v", got.CurveID, tls.X25519MLKEM768)
				}
			}
		})
	}
}

func TestServerKeepsWhatACertificateLimits(t *testing.T) {
	t.Parallel()
	key := mustRSA(t)
	get := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		cert, err := serving(t, key)(nil)
		cert.SupportedSignatureAlgorithms = []tls.SignatureScheme{tls.PKCS1WithSHA1, tls.PSSWithSHA512}
		return cert, err
	}
	found, err := tlspolicy.Server(get).GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := found.SupportedSignatureAlgorithms; len(got) != 1 || got[0] != tls.PSSWithSHA512 {
		t.Errorf("got %v, want %v alone", got, tls.PSSWithSHA512)
	}
	errNone := errors.New("none")
	if _, err := tlspolicy.Server(func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return nil, errNone
	}).GetCertificate(nil); !errors.Is(err, errNone) {
		t.Errorf("got %v, want %v", err, errNone)
	}
}

func TestClientSpeaksNothingElse(t *testing.T) {
	t.Parallel()
	key := mustECDSA(t, elliptic.P256())
	tests := []struct {
		name   string
		server tls.Config
		taken  bool
	}{
		{"OK", tls.Config{}, true},
		{"1.2", tls.Config{MaxVersion: tls.VersionTLS12}, true},
		{"Err1.1", tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, false},
		{
			"ErrCBC",
			tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA}},
			false,
		},
	}
	for i := range tests {
		tt := &tests[i]
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cert, err := serving(t, key)(nil)
			if err != nil {
				t.Fatal(err)
			}
			tt.server.Certificates = []tls.Certificate{*cert}
			roots := x509.NewCertPool()
			roots.AddCert(cert.Leaf)
			client := tlspolicy.Client(roots)
			client.ServerName = "localhost"
			if _, err := dial(t, mustServe(t, &tt.server), client); (err == nil) != tt.taken {
				t.Errorf("got %v, want taken %v", err, tt.taken)
			}
		})
	}
	t.Run("ErrStranger", func(t *testing.T) {
		t.Parallel()
		client := tlspolicy.Client(x509.NewCertPool())
		client.ServerName = "localhost"
		var unknown x509.UnknownAuthorityError
		if _, err := dial(t, mustServe(t, tlspolicy.Server(serving(t, key))), client); !errors.As(err, &unknown) {
			t.Errorf("got %v, want %T", err, unknown)
		}
	})
}

// mustServe finishes handshakes until the test ends, and returns its address.
func mustServe(t *testing.T, cfg *tls.Config) string {
	t.Helper()
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				_ = tls.Server(conn, cfg).HandshakeContext(t.Context())
				_ = conn.Close()
			}()
		}
	}()
	return ln.Addr().String()
}

func dial(t *testing.T, addr string, cfg *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	conn, err := (&tls.Dialer{Config: cfg}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer func() { _ = conn.Close() }()
	_, _ = conn.Read(make([]byte, 1)) // so that a ticket is read, if one is sent
	return conn.(*tls.Conn).ConnectionState(), nil
}

// serving returns a certificate with this key, issued by a new authority.
func serving(t *testing.T, key crypto.Signer) tlspolicy.GetCertificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), DNSNames: []string{"localhost"},
		BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
	}
}
