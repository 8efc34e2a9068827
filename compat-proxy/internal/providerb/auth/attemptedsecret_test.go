package auth_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
)

func TestAttemptedSecret(t *testing.T) {
	t.Parallel()
	mac := base64.StdEncoding.EncodeToString(make([]byte, 32))
	signed := func(id, mac string) http.Header {
		return http.Header{"Signature": {`keyid="` + id + `", algorithm="HmacSHA256", headers="host", signature="` + mac +
			`"`}}
	}
	bearer := func(carried string) http.Header { return http.Header{"Authorization": {"bearer  " + carried}} }
	token := func(header string) http.Header {
		return bearer(base64.RawURLEncoding.EncodeToString([]byte(header)) + ".e30.AAAA")
	}
	other := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 32)))
	both := signed("k", mac)
	both.Set("Authorization", "Bearer sk_test_1")
	// Requests without a key count as separate attempts.
	long := strings.Repeat("k", 16<<10+1)
	for name, tt := range map[string]struct {
		header http.Header
		want   string
	}{
		"a signature":                {signed("k", mac), "signed k"},
		"another by the same key":    {signed("k", other), "signed k"},
		"a broken signature":         {signed("k", "x"), "signed " + signed("k", "x").Get("Signature")},
		"an API key":                 {bearer("sk_test_1"), "sk_test_1"},
		"an API key and a signature": {both, "sk_test_1"},
		"a token":                    {token(`{"kid":"k"}`), "signed k"},
		"a key id like an API key":   {signed("sk_test_1", mac), "signed sk_test_1"},
		"a token with such an id":    {token(`{"kid":"sk_test_1"}`), "signed sk_test_1"},
		"a token with a certificate": {token(`{"kid":"k","x5c":["c","d"]}`), "signed c"},
		"a broken token":             {bearer("x.y.z"), "x.y.z"},
		"a token without a key":      {bearer("e30.e30.AAAA"), "e30.e30.AAAA"},
		"too long a token":           {bearer(long), long},
		"another scheme":             {http.Header{"Authorization": {"Basic sk_test_1"}}, ""},
		"nothing":                    {http.Header{}, ""},
	} {
		if got := auth.AttemptedSecret(tt.header).Reveal(); got != tt.want {
			t.Errorf("%s: got %.99q, want %.99q", name, got, tt.want)
		}
	}
}
