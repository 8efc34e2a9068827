package standalone_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// profileDocument is a request of provider-a by an API key, as JSON; members follow the login.
func profileDocument(apiKey, method, members string) string {
	return fmt.Sprintf(`{%q:{"merchantAuthentication":{"name":"me","transactionKey":%q},%s}}`, method, apiKey, members)
}

// TestLegacyKeyOfAProfile changes or deletes a profile that was made under an Idempotency-Key. The
// retry gets the first response, and makes nothing.
func TestLegacyKeyOfAProfile(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	client, m := patientClient(t), merchantOf(t, p)
	for name, change := range map[string]struct{ method, body string }{
		"nothing":      {http.MethodPatch, `{}`},
		"its metadata": {http.MethodPatch, `{"metadata":{"tier":"gold"}}`},
		"its e-mail":   {http.MethodPatch, `{"email":"other@example.org"}`},
		"it is gone":   {http.MethodDelete, ""},
	} {
		document := profileDocument(p.Keys.SKTest, "createCustomerProfileRequest",
			`"profile":{"email":"`+strings.ReplaceAll(name, " ", "-")+`@example.org","paymentProfiles":[`+threeCards+`}`)
		first := keyedRequest(t, client, p.HTTP, document, name)
		customer, _ := v1Profile(t, readProfile(t, dialectResponse{body: first}))
		if got := m.must(t, change.method, "/v1/customers/"+customer, "", change.body); got.status/100 != 2 {
			t.Fatalf("%s: got %s", name, got.body)
		}
		if again := keyedRequest(t, client, p.HTTP, document, name); again != first {
			t.Errorf("%s: the retry got %s, want %s", name, again, first)
		}
	}
}
