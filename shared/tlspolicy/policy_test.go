package tlspolicy_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

func TestTakes(t *testing.T) {
	t.Parallel()
	p256, p384, p521, p224 := mustECDSA(t, elliptic.P256()), mustECDSA(t, elliptic.P384()), mustECDSA(t,
		elliptic.P521()), mustECDSA(t, elliptic.P224())
	rsaKey := mustRSA(t).Public()
	edKey, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaOnly := mustNarrow(t, "", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
	tests := []struct {
		name   string
		policy tlspolicy.Policy
		keys   []crypto.PublicKey
		taken  bool
	}{
		{"P-256", tlspolicy.Policy{}, []crypto.PublicKey{p256.Public()}, true},
		{"P-384", tlspolicy.Policy{}, []crypto.PublicKey{p384.Public()}, true},
		{"P-521", tlspolicy.Policy{}, []crypto.PublicKey{p521.Public()}, false},
		{"P-224", tlspolicy.Policy{}, []crypto.PublicKey{p224.Public()}, false},
		{"RSA", tlspolicy.Policy{}, []crypto.PublicKey{rsaKey}, true},
		{"Ed25519", tlspolicy.Policy{}, []crypto.PublicKey{edKey}, false},
		{"None", tlspolicy.Policy{}, nil, false},
		{"RSA where only RSA is left", rsaOnly, []crypto.PublicKey{rsaKey}, true},
		{"P-256 where only RSA is left", rsaOnly, []crypto.PublicKey{p256.Public()}, false},
		{"Both where only RSA is left", rsaOnly, []crypto.PublicKey{p256.Public(), rsaKey}, true},
		{"One of two", tlspolicy.Policy{}, []crypto.PublicKey{p256.Public(), edKey}, false},
		{"P-256 in 1.3", mustNarrow(t, "1.3"), []crypto.PublicKey{p256.Public()}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := tt.policy.Takes(tt.keys...); (err == nil) != tt.taken || err != nil && !errors.Is(err, tlspolicy.ErrKey) {
				t.Errorf("got %v, want taken %v", err, tt.taken)
			}
		})
	}
}

// TestPolicyIsImmutable: a caller that writes into a returned slice changes no policy.
func TestPolicyIsImmutable(t *testing.T) {
	t.Parallel()
	before := (tlspolicy.Policy{}).Describe().ID()
	p := tlspolicy.Policy{}
	p.Versions()[0].Name, p.Groups()[0][0].Name, p.Signatures()[0].Name = "", "", ""
	p.Server(nil).NextProtos[0], p.Envoy().ALPN[0] = "", ""
	if got := p.Describe().ID(); got != before || p.Server(nil).NextProtos[0] != "h2" || p.Envoy().ALPN[0] != "h2" {
		t.Error("the table was written into")
	}
}

func mustNarrow(t *testing.T, minimum string, suites ...string) tlspolicy.Policy {
	t.Helper()
	p, err := tlspolicy.Policy{}.Narrow(minimum, suites)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustECDSA(t *testing.T, curve elliptic.Curve) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func mustRSA(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
