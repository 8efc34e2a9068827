package auth_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
)

// FuzzSignature: only the right signature over the right names is accepted.
func FuzzSignature(f *testing.F) {
	good := vector().signed(f)
	header := good.Header.Get("Signature")
	_, mac, _ := strings.Cut(header, `signature="`)
	for _, seed := range []string{
		header, strings.ReplaceAll(header, ", ", ","), strings.ToUpper(header), `keyid="a"`, `=""`, `,`, `a="b",a="c"`,
		`keyid=a`, `keyid="\""`, `keyid="` + keyID + `",algorithm="HmacSHA256",headers="date date",signature=""`, "",
	} {
		f.Add(seed, date, "demo_merchant_1")
	}
	v := setup(f, age)
	f.Fuzz(func(t *testing.T, signature, date, merchant string) {
		r := good
		r.Header = r.Header.Clone()
		r.Header.Set("Signature", signature)
		r.Header.Set("Date", date)
		r.Header.Set("V-C-Merchant-Id", merchant)
		c, err := v.Verify(t.Context(), r)
		switch {
		case err != nil && !errors.Is(err, auth.ErrUnauthenticated):
			t.Errorf("error = %v, want %v", err, auth.ErrUnauthenticated)
		case err == nil && (c.Merchant != "demo_merchant_1" || !strings.Contains(signature, strings.TrimSuffix(mac, `"`))):
			t.Errorf("%q is let in as %q", signature, c.Merchant)
		}
	})
}

// FuzzToken: only the good token is accepted for the request, in exactly one text.
func FuzzToken(f *testing.F) {
	good := tokenVector().signed(f)
	token := strings.TrimPrefix(good.Header.Get("Authorization"), "Bearer ")
	content := token[:strings.LastIndexByte(token, '.')]
	legacyToken := tokenVector()
	legacy(&legacyToken, pairs()[0], date)
	for _, seed := range []string{
		token, content + ".", content, "..", "", "eyJhbGciOiJub25lIn0.e30.",
		strings.TrimPrefix(legacyToken.signed(f).Header.Get("Authorization"), "Bearer "),
		"eyJhbGciOiJIUzI1NiJ9.e30.AAAA", "eyJhbGciOiJSUzI1NiIsIng1YyI6WyIiXX0.e30.AAAA", "sk-test", token + "\n",
	} {
		f.Add(seed)
	}
	v := setup(f, age)
	f.Fuzz(func(t *testing.T, carried string) {
		r := good
		r.Header = http.Header{"Authorization": {"Bearer " + carried}}
		c, err := v.Verify(t.Context(), r)
		switch {
		case err != nil && !errors.Is(err, auth.ErrUnauthenticated):
			t.Errorf("error = %v, want %v", err, auth.ErrUnauthenticated)
		case err == nil && c.Merchant != "" && strings.TrimSpace(carried) != token:
			t.Errorf("%q is let in as %q", carried, c.Merchant)
		}
	})
}
