package tlspolicy_test

import (
	"encoding/json"
	"testing"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// TestDescriptionIsKept: later releases compare stored descriptions. So this text and this id
// change only with the policy, together with a line in CHANGELOG.md.
func TestDescriptionIsKept(t *testing.T) {
	t.Parallel()
	d := (tlspolicy.Policy{}).Describe()
	got, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"versions":["1.2","1.3"],"cipher_suites":["TLS_AES_128_GCM_SHA256","TLS_AES_256_GCM_SHA384",` +
		`"TLS_CHACHA20_POLY1305_SHA256",` +
		`"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256","TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",` +
		`"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",` +
		`"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256","TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",` +
		`"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"],` +
		`"signature_algorithms":["ecdsa_secp256r1_sha256","ecdsa_secp384r1_sha384","rsa_pkcs1_sha256","rsa_pkcs1_sha384",` +
		`"rsa_pkcs1_sha512",` +
		`"rsa_pss_rsae_sha256","rsa_pss_rsae_sha384","rsa_pss_rsae_sha512"]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := d.ID(), "62344332bcdbca6406d3a46fe707507a"; got != want {
		t.Errorf("id: got %s, want %s", got, want)
	}
}

func TestSinceNamesTheChange(t *testing.T) {
	t.Parallel()
	whole, one := (tlspolicy.Policy{}).Describe(), mustNarrow(t, "", ecdsaAES128, ecdsaChaCha).Describe()
	only13 := mustNarrow(t, "1.3").Describe()
	tests := []struct {
		name        string
		now, before tlspolicy.Description
		want        string
	}{
		{
			"Nothing", whole, whole,
			`{"added":{"versions":[],"cipher_suites":[],"signature_algorithms":[]},"removed":{"versions":[],` +
				`"cipher_suites":[],"signature_algorithms":[]}}`,
		},
		{
			"Suites given up", mustNarrow(t, "", ecdsaAES128).Describe(), one,
			`{"added":{"versions":[],"cipher_suites":[],"signature_algorithms":[]},"removed":{"versions":[],"cipher_suites":["` +
				ecdsaChaCha + `"],"signature_algorithms":[]}}`,
		},
		{
			"1.2 given up", only13, one,
			`{"added":{"versions":[],"cipher_suites":[],"signature_algorithms":[]},"removed":{"versions":["1.2"],` +
				`"cipher_suites":["` +
				ecdsaAES128 + `","` + ecdsaChaCha + `"],"signature_algorithms":[]}}`,
		},
		{
			"1.2 back", one, only13,
			`{"added":{"versions":["1.2"],"cipher_suites":["` + ecdsaAES128 + `","` + ecdsaChaCha +
				`"],"signature_algorithms":[]},"removed":{"versions":[],"cipher_suites":[],"signature_algorithms":[]}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			change := tt.now.Since(tt.before)
			got, err := json.Marshal(change)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if same := tt.now.ID() == tt.before.ID(); change.IsZero() != same {
				t.Errorf("IsZero: got %v, but the same id: %v", change.IsZero(), same)
			}
		})
	}
}

func TestIDIsOfASet(t *testing.T) {
	t.Parallel()
	a := tlspolicy.Description{Versions: []string{"1.3", "1.2"}, CipherSuites: []string{"A", "B", "A"}}
	b := tlspolicy.Description{
		Versions: []string{"1.2", "1.3"}, CipherSuites: []string{"B", "A"},
		SignatureAlgorithms: []string{},
	}
	if a.ID() != b.ID() || !a.Since(b).IsZero() {
		t.Errorf("got %s and %s, want one", a.ID(), b.ID())
	}
	moved := tlspolicy.Description{Versions: []string{"1.2"}, CipherSuites: []string{"1.3", "B", "A"}}
	if moved.ID() == b.ID() {
		t.Error("a name that is a suite counts as a version")
	}
}
