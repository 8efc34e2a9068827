package tlspolicy_test

import (
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

const (
	ecdsaAES128 = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
	ecdsaChaCha = "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
	rsaAES256   = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
)

func TestNarrow(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		minimum string
		suites  []string
		want    []string // Envoy's
	}{
		{"Nothing asked", "", nil, (tlspolicy.Policy{}).Envoy().CipherSuites},
		{"The minimum as it is", "1.2", nil, (tlspolicy.Policy{}).Envoy().CipherSuites},
		{"1.3 alone", "1.3", nil, nil},
		{
			"In our order", "1.2",
			[]string{rsaAES256, ecdsaAES128},
			[]string{"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384"},
		},
		{
			"A whole group", "",
			[]string{ecdsaChaCha, ecdsaAES128},
			[]string{"[ECDHE-ECDSA-AES128-GCM-SHA256|ECDHE-ECDSA-CHACHA20-POLY1305]"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := mustNarrow(t, tt.minimum, tt.suites...).Envoy().CipherSuites; !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNarrowRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		minimum string
		suites  []string
		want    error
		says    string
	}{
		{"ErrOldVersion", "1.1", nil, tlspolicy.ErrWeaker, "minimum version 1.1"},
		{"ErrOldestVersion", "1.0", nil, tlspolicy.ErrWeaker, "want 1.2 or newer"},
		{"ErrNoVersion", "1.4", nil, tlspolicy.ErrUnknown, `"1.4"`},
		{"ErrVersionInOtherWords", "TLSv1_3", nil, tlspolicy.ErrUnknown, "want 1.2 or 1.3"},
		{
			"ErrStaticRSA", "",
			[]string{ecdsaAES128, "TLS_RSA_WITH_AES_128_GCM_SHA256"},
			tlspolicy.ErrWeaker,
			"exchanges keys by RSA",
		},
		{
			"ErrCBC", "",
			[]string{"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256"},
			tlspolicy.ErrWeaker,
			"AES_128_CBC_SHA256 is not an AEAD",
		},
		{"ErrDHE", "", []string{"TLS_DHE_RSA_WITH_AES_128_GCM_SHA256"}, tlspolicy.ErrWeaker, "exchanges keys by DHE_RSA"},
		{"ErrAnonymous", "", []string{"TLS_ECDH_anon_WITH_NULL_SHA"}, tlspolicy.ErrWeaker, ", and NULL_SHA is not an AEAD"},
		{"ErrNotOurs", "", []string{"TLS_ECDHE_ECDSA_WITH_AES_128_CCM"}, tlspolicy.ErrUnknown, ecdsaAES128},
		{"ErrNoSuite", "", []string{"AES"}, tlspolicy.ErrUnknown, `"AES"`},
		{"ErrEmpty", "", []string{""}, tlspolicy.ErrUnknown, `""`},
		{"ErrEnvoysName", "", []string{"ECDHE-ECDSA-AES128-GCM-SHA256"}, tlspolicy.ErrUnknown, "write " + ecdsaAES128},
		{"ErrOf13", "", []string{ecdsaAES128, "TLS_AES_128_GCM_SHA256"}, tlspolicy.ErrUseless, "TLS_AES_128_GCM_SHA256"},
		{"ErrTwice", "", []string{ecdsaAES128, ecdsaAES128}, tlspolicy.ErrUseless, ecdsaAES128},
		{"ErrNothingFor12", "1.3", []string{ecdsaAES128}, tlspolicy.ErrUseless, "minimum version"},
		{"ErrNoneForHTTP2", "", []string{ecdsaChaCha, rsaAES256}, tlspolicy.ErrUseless, "HTTP/2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tlspolicy.Policy{}.Narrow(tt.minimum, tt.suites)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %v with %s", err, tt.want, tt.says)
			}
		})
	}
}

// Every suite that Go lists as insecure is refused as weaker. Every other suite of Go that the
// policy lacks is refused too.
func TestNarrowTakesNothingElseOfGo(t *testing.T) {
	t.Parallel()
	held := slices.Concat((tlspolicy.Policy{}).Groups()...)
	for _, s := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		if slices.ContainsFunc(held, func(h tlspolicy.Suite) bool { return h.ID == s.ID }) {
			continue
		}
		_, err := tlspolicy.Policy{}.Narrow("", []string{ecdsaAES128, s.Name})
		if err == nil || s.Insecure && !errors.Is(err, tlspolicy.ErrWeaker) {
			t.Errorf("%s: got %v", s.Name, err)
		}
	}
}

func TestNarrowNeverWidens(t *testing.T) {
	t.Parallel()
	only13 := mustNarrow(t, "1.3")
	if _, err := only13.Narrow("1.2", nil); !errors.Is(err, tlspolicy.ErrWeaker) {
		t.Errorf("version: got %v, want %v", err, tlspolicy.ErrWeaker)
	}
	one := mustNarrow(t, "", ecdsaAES128)
	if _, err := one.Narrow("", []string{ecdsaAES128, rsaAES256}); !errors.Is(err, tlspolicy.ErrUnknown) {
		t.Errorf("suite: got %v, want %v", err, tlspolicy.ErrUnknown)
	}
}
