package tlspolicy_test

import (
	"crypto/tls"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

func TestVersionsBeginWith12(t *testing.T) {
	t.Parallel()
	var got []string
	for _, v := range (tlspolicy.Policy{}).Versions() {
		got = append(got, v.Name)
		if want := "TLS " + v.Name; tls.VersionName(v.ID) != want || v.Envoy != "TLSv"+strings.ReplaceAll(v.Name, ".", "_") {
			t.Errorf("%s: Go calls it %s, we tell Envoy %s", v.Name, tls.VersionName(v.ID), v.Envoy)
		}
	}
	if want := []string{"1.2", "1.3"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// These are rules, not a list: the test fails for a suite that violates one of them.
var (
	// TLS 1.2
	forwardSecretAEAD = regexp.MustCompile(
		`^TLS_ECDHE_(ECDSA|RSA)_WITH_(AES_(128|256)_GCM|CHACHA20_POLY1305)_SHA(256|384)$`)
	// 1.3, always forward secret
	aead = regexp.MustCompile(`^TLS_(AES_(128|256)_GCM|CHACHA20_POLY1305)_SHA(256|384)$`)
)

func TestSuitesAreForwardSecretAEAD(t *testing.T) {
	t.Parallel()
	chosen := slices.Concat((tlspolicy.Policy{}).Groups()...)
	if len(chosen) == 0 {
		t.Fatal("no suite of TLS 1.2")
	}
	for _, s := range chosen {
		if !forwardSecretAEAD.MatchString(s.Name) {
			t.Errorf("%s is not an AEAD with ECDHE", s.Name)
		}
		envoy := strings.NewReplacer("TLS_", "", "_WITH_", "-", "AES_", "AES", "_", "-").Replace(s.Name)
		if strings.Contains(envoy, "CHACHA20") {
			envoy = strings.TrimSuffix(envoy, "-SHA256")
		}
		if s.Envoy != envoy {
			t.Errorf("%s: Envoy's name: got %s, want %s", s.Name, s.Envoy, envoy)
		}
	}
	known := map[uint16]string{}
	for _, s := range tls.CipherSuites() { // the secure suites, by Go
		known[s.ID] = s.Name
	}
	all := (tlspolicy.Policy{}).Suites()
	for i, s := range all {
		if known[s.ID] != s.Name {
			t.Errorf("%s: Go calls %#x %q", s.Name, s.ID, known[s.ID])
		}
		if !forwardSecretAEAD.MatchString(s.Name) && !aead.MatchString(s.Name) {
			t.Errorf("%s is not an AEAD", s.Name)
		}
		if slices.Contains(all[:i], s) {
			t.Errorf("%s is there twice", s.Name)
		}
	}
}

func TestSignaturesHashBySHA2(t *testing.T) {
	t.Parallel()
	all := (tlspolicy.Policy{}).Signatures()
	if len(all) == 0 {
		t.Fatal("none")
	}
	rule := regexp.MustCompile(`^(ecdsa_secp(256|384)r1|rsa_pss_rsae|rsa_pkcs1)_sha(256|384|512)$`)
	goNames := map[string]tls.SignatureScheme{
		"ecdsa_secp256r1_sha256": tls.ECDSAWithP256AndSHA256, "ecdsa_secp384r1_sha384": tls.ECDSAWithP384AndSHA384,
		"rsa_pss_rsae_sha256": tls.PSSWithSHA256, "rsa_pss_rsae_sha384": tls.PSSWithSHA384,
		"rsa_pss_rsae_sha512": tls.PSSWithSHA512,
		"rsa_pkcs1_sha256":    tls.PKCS1WithSHA256, "rsa_pkcs1_sha384": tls.PKCS1WithSHA384,
		"rsa_pkcs1_sha512": tls.PKCS1WithSHA512,
	}
	for _, s := range all {
		if !rule.MatchString(s.Name) || goNames[s.Name] != s.ID {
			t.Errorf("%s: got %v", s.Name, s.ID)
		}
	}
}

func TestHSTSHolds(t *testing.T) {
	t.Parallel()
	if got, want := tlspolicy.HSTSHeader+": "+tlspolicy.HSTS, "Strict-Transport-Security: max-age=63072000; "+
		"includeSubDomains"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
