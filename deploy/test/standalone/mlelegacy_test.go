package standalone_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/deploy/test/sdk"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// TestLegacyEncrypted pays in both legacy dialects with encrypted requests and responses, by a
// program with another JOSE library, over HTTPS.
func TestLegacyEncrypted(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	s := system(t, p)
	sdk.WaitForKeys(t, s)
	for _, alg := range sdk.Algs {
		sdk.RunLegacy(t, s, alg)
	}
}

// encryptedAs returns a body that is encrypted to the current key of a merchant, with a cty unless
// it is empty.
func encryptedAs(t *testing.T, m *merchant, cty, body string) string {
	t.Helper()
	current := mustDecode[struct {
		JWK jose.JSONWebKey `json:"jwk"`
	}](t, m.must(t, http.MethodGet, "/v1/mle/keys/current", "", ""))
	options := &jose.EncrypterOptions{}
	if cty != "" {
		options.WithContentType(jose.ContentType(cty))
	}
	to := jose.Recipient{Algorithm: jose.KeyAlgorithm(mle.ECDHESA256KW), Key: current.JWK}
	encrypter, err := jose.NewEncrypter(jose.A256GCM, to, options)
	if err != nil {
		t.Fatal(err)
	}
	object, err := encrypter.Encrypt([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// postedResponse is a response on a legacy path.
type postedResponse struct {
	status          int
	requestID, body string
}

// sendLegacy posts a body with header fields.
func sendLegacy(t *testing.T, p *process, path, body string, fields http.Header) postedResponse {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.HTTP+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = fields.Clone()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil || response.Body.Close() != nil {
		t.Fatal(err)
	}
	return postedResponse{response.StatusCode, response.Header.Get("Request-Id"), string(text)}
}

// joseFields are the header fields of an encrypted request, with an Authorization.
func joseFields(authorization ...string) http.Header {
	return http.Header{"Content-Type": {"application/jose"}, "X-Svc-Mle": {"v1"}, "Authorization": authorization}
}

// TestLegacyEncryptedTypes pays with each form of cty, also on the providers' own paths, and gets
// responses in the clear.
func TestLegacyEncryptedTypes(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	bearer := joseFields("Bearer " + p.Keys.SKTest)
	inXML, inJSON := saleXML(p, "3.00"), restPayment("4.00", "USD", true, "")
	_, afterLogin, _ := strings.Cut(inXML, "</merchantAuthentication>")
	const alone = `{"createTransactionRequest":{"transactionRequest":{"transactionType":"authCaptureTransaction",` +
		`"amount":"5.00","payment":{"creditCard":{"cardNumber":"4111111111111111","expirationDate":"2031-04"}}}}}`
	for i, tt := range []struct{ path, cty, body, want string }{
		{"/compat/provider-a/xml", "xml", inXML, "<responseCode>1<"},
		{"/compat/provider-a/xml", "application/xml", inXML, "<responseCode>1<"},
		{"/xml/v1/request.api", "text/xml; charset=utf-8", inXML, "<responseCode>1<"},
		{
			"/compat/provider-a/xml", "xml", `<createTransactionRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd">` +
				afterLogin, "<responseCode>1<",
		},
		{"/compat/provider-a/xml", "json", alone, `"responseCode":"1"`},
		{"/compat/provider-b/pts/v2/payments", "json", inJSON, `"status":"AUTHORIZED"`},
		{"/compat/provider-b/pts/v2/payments", "", inJSON, `"status":"AUTHORIZED"`},
		{"/pts/v2/payments", "application/json", inJSON, `"status":"AUTHORIZED"`},
		{
			"/compat/rpc", "json", `{"jsonrpc":"2.0","id":1,"method":"compat.provider-b.createPayment","params":` + inJSON + `}`,
			`"status":"AUTHORIZED"`,
		},
	} {
		body := strings.Replace(tt.body, ".00", ".0"+string(rune('1'+i)), 1) // otherwise provider-a finds a duplicate
		got := sendLegacy(t, p, tt.path, encryptedAs(t, m, tt.cty, body), bearer)
		if !strings.Contains(got.body, tt.want) {
			t.Errorf("%s, %q: got %d %s", tt.path, tt.cty, got.status, got.body)
		}
	}
	if got := m.transactions(t); len(got) != 9 {
		t.Errorf("payments: got %d, want 9", len(got))
	}
}

// TestLegacyEncryptedRefused sends the abuse list of encrypted legacy requests: each is refused
// with its reason, and nothing is paid.
func TestLegacyEncryptedRefused(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	bearer := joseFields("Bearer " + p.Keys.SKTest)
	const pathA, pathB = "/compat/provider-a/xml", "/compat/provider-b/pts/v2/payments"
	inXML, inJSON := saleXML(p, "3.00"), restPayment("4.00", "USD", true, "")
	encrypted := encryptedAs(t, m, "json", inJSON)
	signed := signedOf(p)
	signed.bear(t, "n", patience)
	flipped := strings.Replace(encrypted, ".", ".AAAA", 1)
	for name, tt := range map[string]struct {
		path, body string
		fields     http.Header
		status     int
		code       string
	}{
		"no login":            {pathB, encrypted, joseFields(), 400, "mle_not_supported"},
		"a JWT of provider-b": {pathB, encrypted, joseFields(signed.header.Get("Authorization")), 400, "mle_not_supported"},
		"a login in the body": {pathA, encryptedAs(t, m, "xml", inXML), joseFields(), 400, "mle_not_supported"},
		"an invalid API key":  {pathB, encrypted, joseFields("Bearer sk_test_0000000000000000"), 401, "invalid_api_key"},
		"two logins":          {pathB, encrypted, joseFields("Bearer "+p.Keys.SKTest, "Bearer x"), 400, "mle_not_supported"},
		"XML for JSON":        {pathB, encryptedAs(t, m, "xml", inJSON), bearer, 400, "mle_decrypt_failed"},
		"no type":             {pathA, encryptedAs(t, m, "", inXML), bearer, 400, "mle_decrypt_failed"},
		"HTML":                {pathA, encryptedAs(t, m, "text/html", inXML), bearer, 400, "mle_decrypt_failed"},
		"a nested JWE":        {pathA, encryptedAs(t, m, "JOSE", encrypted), bearer, 400, "mle_decrypt_failed"},
		"a nested JWE as JSON": {
			pathB, encryptedAs(t, m, "json", encrypted), bearer, 400, `"status":"INVALID_REQUEST"`,
		},
		"JSON for XML, as JSON": {pathA, encryptedAs(t, m, "json", "<"), bearer, 200, "E00003"},
		"changed":               {pathB, flipped, bearer, 400, "mle_decrypt_failed"},
		"huge":                  {pathB, strings.Repeat("A", 262_145), bearer, 413, "body_too_large"},
		"huge in itself": {
			pathA, encryptedAs(t, m, "xml", strings.Repeat(" ", 192_513)), bearer, 413, "body_too_large",
		},
		"not encrypted": {pathB, inJSON, bearer, 400, "mle_decrypt_failed"},
	} {
		got := sendLegacy(t, p, tt.path, tt.body, tt.fields)
		if got.status != tt.status || !strings.Contains(got.body, tt.code) {
			t.Errorf("%s: got %d %s, want %d %s", name, got.status, got.body, tt.status, tt.code)
		}
	}
	if got := m.transactions(t); len(got) != 0 {
		t.Errorf("payments: got %d, want none", len(got))
	}
}
