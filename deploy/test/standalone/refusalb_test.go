package standalone_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// signedB is a provider-b request; sign or bear makes its headers.
type signedB struct {
	path, body, secret, keyID, merchant, list string
	header                                    http.Header
}

const saleB = `{"clientReferenceInformation":{"code":"r-1"},"processingInformation":{"capture":true},` +
	`"paymentInformation":{"card":{"number":` +
	`"4111111111111111","expirationMonth":"12","expirationYear":"2031"}},` +
	`"orderInformation":{"amountDetails":{"totalAmount":"5.00","currency":"USD"}}}`

func signedOf(p *process) signedB {
	return signedB{
		path: "/pts/v2/payments", body: saleB, secret: p.ProviderB.SharedSecret, keyID: p.ProviderB.KeyID,
		merchant: p.ProviderB.MerchantID,
		list:     "host date request-target digest v-c-merchant-id",
		header: http.Header{
			"Date":            {time.Now().UTC().Format(http.TimeFormat)}, //nolint:forbidigo // the real program's time
			"V-C-Merchant-Id": {p.ProviderB.MerchantID}, "Content-Type": {"application/json"},
		},
	}
}

func base64SHA256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func hmac256(t *testing.T, secret, text string) []byte {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// sign adds an HTTP signature to the request.
func (s *signedB) sign(t *testing.T, host string) {
	t.Helper()
	s.header.Set("Digest", "SHA-256="+base64SHA256(s.body))
	var lines []string
	for name := range strings.FieldsSeq(s.list) {
		value := s.header.Get(name)
		switch name {
		case "host":
			value = host
		case "request-target":
			value = "post " + s.path
		}
		lines = append(lines, name+": "+value)
	}
	s.header.Set("Signature", `keyid="`+s.keyID+`", algorithm="HmacSHA256", headers="`+s.list+`", signature="`+
		base64.StdEncoding.EncodeToString(hmac256(t, s.secret, strings.Join(lines, "\n")))+`"`)
}

// bear adds a JWT by the shared secret to the request.
func (s *signedB) bear(t *testing.T, nonce string, life time.Duration) {
	t.Helper()
	now := time.Now() //nolint:forbidigo // the real program's time
	claims, err := json.Marshal(map[string]any{
		"digest": base64SHA256(s.body), "digestAlgorithm": "SHA-256", "iat": now.Unix(), "exp": now.Add(life).Unix(),
		"iss": s.merchant, "jti": nonce,
		"request-method": "post", "request-resource-path": s.path, "v-c-jwt-version": "2", "v-c-merchant-id": s.merchant,
	})
	if err != nil {
		t.Fatal(err)
	}
	content := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT","kid":"`+s.keyID+`"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(claims)
	s.header.Set("Authorization",
		"Bearer "+content+"."+base64.RawURLEncoding.EncodeToString(hmac256(t, s.secret, content)))
}

// send posts the request and returns the status and the reason.
func (s *signedB) send(t *testing.T, m *merchant) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.base+s.path, strings.NewReader(s.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = s.header
	response, err := m.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if kind := response.Header.Get("Content-Type"); !strings.Contains(kind, "json") ||
		response.Header.Get("V-C-Correlation-Id") == "" {
		t.Errorf("content type = %q, correlation id = %q, want JSON and one", kind, response.Header.Get("V-C-Correlation-Id"))
	}
	return response.StatusCode, string(body)
}

func TestRefusalsOfProviderBLeaveTheStoreAlone(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	host := strings.TrimPrefix(m.base, "http://")
	host = strings.TrimPrefix(host, "https://")
	wrong := base64.StdEncoding.EncodeToString(make([]byte, 32))
	day := 24 * time.Hour
	for name, c := range map[string]struct{ before, after func(*signedB) }{
		"a byte of the body": {after: func(s *signedB) { s.body = strings.Replace(s.body, "5.00", "9.00", 1) }},
		"another path":       {after: func(s *signedB) { s.path = "/pts/v2/credits" }},
		"a stale date": {before: func(s *signedB) { //nolint:forbidigo // see above
			s.header.Set("Date", time.Now().UTC().Add(-day).Format(http.TimeFormat))
		}},
		"a foreign key id":    {before: func(s *signedB) { s.keyID = "00000000-0000-4000-8000-000000000000" }},
		"a wrong secret":      {before: func(s *signedB) { s.secret = wrong }},
		"another merchant":    {before: func(s *signedB) { s.header.Set("V-C-Merchant-Id", "another") }},
		"digest not listed":   {before: func(s *signedB) { s.list = "host date request-target v-c-merchant-id" }},
		"target not listed":   {before: func(s *signedB) { s.list = "host date digest v-c-merchant-id" }},
		"merchant not listed": {before: func(s *signedB) { s.list = "host date request-target digest" }},
		"no signature":        {after: func(s *signedB) { s.header.Del("Signature") }},
		"malformed, unsigned": {after: func(s *signedB) { s.body = "{" }},
		"an expired token":    {after: func(s *signedB) { s.bear(t, "a", -time.Hour) }},
		"a token's body":      {after: func(s *signedB) { s.bear(t, "b", time.Minute); s.body += " " }},
		"a token's secret":    {after: func(s *signedB) { s.secret = wrong; s.bear(t, "c", time.Minute) }},
		"a token of another":  {after: func(s *signedB) { s.merchant = "another"; s.bear(t, "d", time.Minute) }},
	} {
		s := signedOf(p)
		if c.before != nil {
			c.before(&s)
		}
		s.sign(t, host)
		if c.after != nil {
			c.after(&s)
		}
		if status, got := s.send(t, m); status != http.StatusUnauthorized ||
			got != `{"response":{"rmsg":"Authentication Failed"}}` {
			t.Errorf("%s: %d %s, want 401 Authentication Failed", name, status, got)
		}
	}
	if got, want := len(m.transactions(t)), 0; got != want {
		t.Errorf("transactions = %d, want %d", got, want)
	}
	sound := signedOf(p) // otherwise the refusals prove nothing
	sound.sign(t, host)
	if status, got := sound.send(t, m); status != http.StatusCreated {
		t.Errorf("a valid request: %d %s, want 201", status, got)
	}
}

// TestTokenThatComesAgainPaysOnce checks that a repeated token is the same payment, and a newly
// signed one another.
func TestTokenThatComesAgainPaysOnce(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	s := signedOf(p)
	s.bear(t, "once", time.Minute)
	_, first := s.send(t, m)
	for range 3 {
		if status, got := s.send(t, m); status != http.StatusCreated || got != first {
			t.Errorf("again: %d %s, want 201 and the first response %s", status, got, first)
		}
	}
	s.bear(t, "another", time.Minute)
	if status, got := s.send(t, m); status != http.StatusCreated || got == first {
		t.Errorf("another nonce: %d %s, want another payment", status, got)
	}
	if got, want := len(m.transactions(t)), 2; got != want {
		t.Errorf("transactions = %d, want %d", got, want)
	}
}
