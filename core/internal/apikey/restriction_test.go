package apikey_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/apikey"
)

func TestParseAddresses(t *testing.T) {
	t.Parallel()
	in := []string{"203.0.113.7", "203.0.113.7/32", "198.51.100.0/24", "2001:DB8::/32", "::1"}
	got, ok := apikey.ParseAddresses(in)
	var texts []string
	for _, network := range got {
		texts = append(texts, network.String())
	}
	want := []string{"203.0.113.7/32", "198.51.100.0/24", "2001:db8::/32", "::1/128"}
	if !ok || !slices.Equal(texts, want) {
		t.Errorf("got %q, %t, want %q", texts, ok, want)
	}
	for _, wrong := range []string{
		"", "203.0.113", "203.0.113.7/24", "203.0.113.0/33", "203.0.113.0/", "fe80::1%eth0", "fe80::%eth0/64",
		"::ffff:203.0.113.7",
		"::ffff:203.0.113.0/120", "shop.example", "203.0.113.7 ", "203.0.113.7,198.51.100.7", "203.000.113.7",
	} {
		if got, ok := apikey.ParseAddresses([]string{wrong}); ok {
			t.Errorf("%q: got %v, want a refusal", wrong, got)
		}
	}
	var many []string
	for i := range apikey.MaxRestrictions + 1 {
		many = append(many, fmt.Sprintf("203.0.113.%d", i))
	}
	if _, ok := apikey.ParseAddresses(many[1:]); !ok {
		t.Errorf("%d addresses are refused", len(many)-1)
	}
	if _, ok := apikey.ParseAddresses(many); ok {
		t.Errorf("%d addresses are accepted", len(many))
	}
}

func TestCheckOrigins(t *testing.T) {
	t.Parallel()
	fine := []string{
		"https://shop.example", "http://localhost:8000", "https://shop.example:8443", "http://[::1]:3000",
		"https://[2001:db8::a]",
		"https://shop.example:65535",
		"https://xn--bcher-kva.example",
	}
	if !apikey.CheckOrigins(fine) || !apikey.CheckOrigins(nil) {
		t.Errorf("%q is refused", fine)
	}
	for _, wrong := range []string{
		"", "*", "null", "shop.example", "https://", "https://shop.example/", "https://shop.example:443",
		"http://shop.example:80",
		"https://Shop.example", "https://*.shop.example", "https://a@shop.example", "https://shop.example?",
		"ftp://shop.example", "https://shop.example https://other.example", "https://bücher.example",
		"https://shop.example:0", "https://shop.example:65536", "http://[::1", "http://::1", "http://[1]", "http://[::::]",
		"http://[0:0:0:0:0:0:0:1]", "http://[::0001]", "http://[::1.2.3.4]", "http://[127.0.0.1]", "http://[::1]:80",
	} {
		if apikey.CheckOrigins([]string{wrong}) {
			t.Errorf("%q is accepted", wrong)
		}
	}
	if apikey.CheckOrigins(slices.Repeat(fine[:1], apikey.MaxRestrictions+1)) {
		t.Error("33 origins are accepted")
	}
}
