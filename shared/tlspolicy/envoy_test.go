package tlspolicy_test

import (
	"reflect"
	"testing"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

func TestEnvoy(t *testing.T) {
	t.Parallel()
	want := tlspolicy.Envoy{
		MinimumVersion: "TLSv1_2", MaximumVersion: "TLSv1_3",
		CipherSuites: []string{
			"[ECDHE-ECDSA-AES128-GCM-SHA256|ECDHE-ECDSA-CHACHA20-POLY1305]",
			"[ECDHE-RSA-AES128-GCM-SHA256|ECDHE-RSA-CHACHA20-POLY1305]",
			"ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
		},
		SignatureAlgorithms: []string{
			"ecdsa_secp256r1_sha256", "rsa_pss_rsae_sha256", "rsa_pkcs1_sha256", "ecdsa_secp384r1_sha384", "rsa_pss_rsae_sha384",
			"rsa_pkcs1_sha384",
			"rsa_pss_rsae_sha512", "rsa_pkcs1_sha512",
		},
		ALPN:                  []string{"h2", "http/1.1"},
		NoStatelessResumption: true, NoStatefulResumption: true,
	}
	if got := (tlspolicy.Policy{}).Envoy(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	want.MinimumVersion, want.CipherSuites = "TLSv1_3", nil
	if got := mustNarrow(t, "1.3").Envoy(); !reflect.DeepEqual(got, want) {
		t.Errorf("1.3: got  %+v\nwant %+v", got, want)
	}
}
