package p12_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"strings"
	"testing"
	"time"

	pkcs12 "software.sslmate.com/src/go-pkcs12"

	"github.com/causeway-pay/causeway/compat-proxy/internal/p12"
	"github.com/causeway-pay/causeway/shared/secret"
)

func mustIssue(t *testing.T, name string) (*rsa.PrivateKey, []byte) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: name},
		NotAfter:     time.Unix(4e9, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return key, der
}

// TestEncode lets an independent library read the file. deploy/test/sdk uses the clients'
// libraries.
func TestEncode(t *testing.T) {
	t.Parallel()
	key, own := mustIssue(t, "own")
	_, other := mustIssue(t, "other")
	for _, password := range []string{"p", "häß€", strings.Repeat("long", 40), ""} {
		file, err := p12.Encode(key, p12.Certificate{DER: own, Name: "CN=own"},
			[]p12.Certificate{{DER: other, Name: "CN=other"}}, secret.New(password))
		if err != nil {
			t.Fatal(err)
		}
		gotKey, gotOwn, gotOthers, err := pkcs12.DecodeChain(file, password)
		if err != nil {
			t.Fatalf("password %q: %v", password, err)
		}
		if !key.Equal(gotKey) || !bytes.Equal(gotOwn.Raw, own) || len(gotOthers) != 1 ||
			!bytes.Equal(gotOthers[0].Raw, other) {
			t.Errorf("password %q: what is read is not what was written", password)
		}
		if _, _, _, err := pkcs12.DecodeChain(file, password+"x"); err == nil {
			t.Errorf("password %q: another one opens the file", password)
		}
	}
}
