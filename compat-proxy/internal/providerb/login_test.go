package providerb

import (
	"encoding/base64"
	"net/http"
	"testing"
)

// TestLoginOf: the logins of two keys that sign JWTs are bounded apart. An API key is no login.
func TestLoginOf(t *testing.T) {
	t.Parallel()
	jwt := func(kid string) string {
		return "Bearer " + base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","kid":"`+kid+`"}`)) + ".e30.c2ln"
	}
	for authorization, want := range map[string]string{
		jwt("shop-1"): "signed shop-1", jwt("shop-2"): "signed shop-2", "Bearer sk_test_key": "", "": "",
	} {
		if got, _ := loginOf(http.Header{"Authorization": {authorization}}); got != want {
			t.Errorf("%s: got %q, want %q", authorization, got, want)
		}
	}
	named := http.Header{"Authorization": {jwt("shop-1")}, "V-C-Merchant-Id": {"shop"}}
	if got, _ := loginOf(named); got != "shop" {
		t.Errorf("with a merchant: got %q", got)
	}
}
