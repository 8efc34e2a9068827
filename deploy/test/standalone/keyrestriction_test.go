package standalone_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// entrance is a way to pay with an API key.
type entrance struct {
	name, path, body string
	fields           http.Header
	accepted, other  string // parts of the responses, from the key's address and from another one
}

// send pays as a client, and returns the response.
func (e entrance) send(t *testing.T, by *merchant) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, by.base+e.path, strings.NewReader(e.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = e.fields
	got, err := by.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(got.Body)
	if err != nil || got.Body.Close() != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestKeyOfAnAddress restricts an API key to one client address. It is refused from another one at
// every entrance: v1, mle-filter's keys, encrypted requests, and legacy requests. Each of them was
// accepted from the first address just before, so the caches of all programs have the key.
func TestKeyOfAnAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	m := merchantOf(t, p)
	made := mustDecode[v1.APIKey](t, m.must(t, http.MethodPost, "/v1/api_keys", "",
		`{"kind":"secret","allowed_addresses":["127.0.0.1"]}`))
	here := &merchant{base: p.HTTP, key: made.Secret.Reveal(), http: http.DefaultClient}
	there := &merchant{base: p.HTTP, key: here.key, http: fromAddress(t, "127.0.0.31")}
	file := filepath.Join(t.TempDir(), "api-key")
	if err := os.WriteFile(file, []byte(here.key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	login := issuedKey.FindStringSubmatch(credentialsOf(t, logins(dir), "issue", "--name", "shop", "--api-key-file", file))
	if login == nil {
		t.Fatal("issue showed no key")
	}
	desk := &loginDesk{p: p, proxy: &replica{Program: p.Program, base: p.HTTP}}
	desk.until(t, "shop", login[1], "1/1")
	sale := legacyDocument(&process{ready: desk.as("shop", login[1])},
		legacyPayment("authCaptureTransaction", "4.00", "there"))
	const mine = `{"amount":100,"currency":"usd","payment_method":"card"}`
	bearer := http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + here.key}}
	plain := restPayment("5.00", "USD", true, "")
	const refused, denied = `"code":"address_not_allowed"`, "cannot be used from the address"
	const payments, v1Payments = "/compat/provider-b/pts/v2/payments", "/v1/transactions"
	jose, inXML := joseFields("Bearer "+here.key), http.Header{"Content-Type": {"text/xml"}}
	for _, c := range []entrance{
		{"v1", v1Payments, mine, bearer, `"captured"`, refused},
		{"v1, encrypted", v1Payments, encryptedAs(t, here, "", mine), jose, `"captured"`, refused},
		{"by a login", "/compat/provider-a/xml", sale, inXML, "<responseCode>1<", "<code>E00011</code>"},
		{"legacy", payments, plain, bearer, `"AUTHORIZED"`, denied},
		{"legacy, encrypted", payments, encryptedAs(t, here, "", plain), jose, `"AUTHORIZED"`, denied},
	} {
		if got := c.send(t, here); !strings.Contains(got, c.accepted) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.accepted)
		}
		before := len(m.transactions(t))
		if got := c.send(t, there); !strings.Contains(got, c.other) {
			t.Errorf("%s from elsewhere: got %s, want %s", c.name, got, c.other)
		}
		if after := len(m.transactions(t)); after != before {
			t.Errorf("%s from elsewhere: %d payments were made", c.name, after-before)
		}
	}
	if got := there.must(t, http.MethodGet, "/v1/mle/keys/current", "", ""); got.status != http.StatusForbidden {
		t.Errorf("mle-filter's key from elsewhere: got %d %s", got.status, got.body)
	}
}
