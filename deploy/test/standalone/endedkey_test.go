package standalone_test

import (
	"net/http"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// sendJOSE sends an encrypted payment.
func sendJOSE(t *testing.T, m *merchant, body string) response {
	t.Helper()
	text := entrance{path: "/v1/transactions", body: body, fields: joseFields("Bearer " + m.key)}.send(t, m)
	return response{status: mustDecode[v1.ErrorBody](t, response{body: text}).Error.Status, body: text}
}

// TestEndedKeyIsNamed checks that mle-filter gives core's reason for a key that was revoked or
// rolled. It does so for its own endpoints and for encrypted requests. A key that never existed has
// another reason.
func TestEndedKeyIsNamed(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	made := func() v1.APIKey {
		return mustDecode[v1.APIKey](t, m.must(t, http.MethodPost, "/v1/api_keys", "", `{"kind":"secret"}`))
	}
	revoked, rolled := made(), made()
	body := encryptedAs(t, m, "", `{"amount":100,"currency":"usd","payment_method":"card"}`)
	m.must(t, http.MethodDelete, "/v1/api_keys/"+revoked.ID, "", "")
	m.must(t, http.MethodPost, "/v1/api_keys/"+rolled.ID+"/roll", "", `{"expires_in":0}`)
	const fresh = "sk_test_0000000000000000000000000000000000000000000"
	for name, c := range map[string]struct{ key, want string }{
		"revoked":    {revoked.Secret.Reveal(), v1.MessageEndedKey},
		"rolled":     {rolled.Secret.Reveal(), v1.MessageEndedKey},
		"never made": {fresh, v1.MessageInvalidAPIKey},
	} {
		client := &merchant{base: p.HTTP, key: c.key, http: m.http}
		for what, got := range map[string]response{
			"core":                 client.must(t, http.MethodGet, "/v1/transactions", "", ""),
			"mle-filter":           client.must(t, http.MethodGet, "/v1/mle/keys/current", "", ""),
			"an encrypted request": sendJOSE(t, client, body),
		} {
			if refused := mustDecode[v1.ErrorBody](t, got).Error; got.status != 401 || refused.Code != "invalid_api_key" ||
				refused.Message != c.want {
				t.Errorf("%s, %s: got %d %s, want %q", name, what, got.status, got.body, c.want)
			}
		}
	}
}
