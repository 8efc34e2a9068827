package auth_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/shared/clock"
)

// body is the body of the contract's test vectors.
const body = `{"clientReferenceInformation":{"code":"ORD-1001"},"processingInformation":{"capture":false,` +
	`"commerceIndicator":"internet"},"paymentInformation":{"card":{"number":"4111111111111111","expirationMonth":"12",` +
	`"expirationYear":"2031","securityCode":"123","type":"001"}},"orderInformation":{"amountDetails":` +
	`{"totalAmount":"102.21","currency":"USD"},"billTo":{"firstName":"Ana","lastName":"Lopez","address1":"1 Main St",` +
	`"locality":"Austin","administrativeArea":"TX","postalCode":"73301","country":"US","email":"ana@example.com"}}}`

const (
	sharedSecret = "ZXhhbXBsZS1zaGFyZWQtc2VjcmV0LTMyLWJ5dGVzISE="
	keyID        = "11112222-3333-4444-5555-666677778888"
	otherKeyID   = "aaaaaaaa-3333-4444-5555-666677778888"
	portfolioKey = "bbbbbbbb-3333-4444-5555-666677778888"
	relaxedKey   = "cccccccc-3333-4444-5555-666677778888"
	host         = "apitest.cybersource.com"
	date         = "Mon, 01 Dec 2025 05:04:23 GMT"
	age          = 15 * time.Minute
)

var now = time.Date(2025, 12, 1, 5, 4, 23, 0, time.UTC)

const logins = `provider_b:
  - merchant_id: demo_merchant_1
    keys: [{id: ` + keyID + `, shared_secret: ` + sharedSecret + `}]
    api_key: sk_test_one
  - merchant_id: demo_merchant_2
    keys: [{id: ` + otherKeyID + `, shared_secret: ` + sharedSecret + `}]
    api_key: sk_test_two
  - merchant_id: demo_portfolio
    keys: [{id: ` + portfolioKey + `, shared_secret: ` + sharedSecret + `}]
    portfolio: [demo_merchant_1]
  - merchant_id: any_date
    keys: [{id: ` + relaxedKey + `, shared_secret: ` + sharedSecret + `}]
    any_date: true
    api_key: sk_test_three
`

// setup returns a verifier of the logins at the time of the vectors.
func setup(tb testing.TB, ageOf time.Duration) *auth.Verifier {
	tb.Helper()
	return setupWith(tb, logins, ageOf)
}

// setupWith is setup with another credentials file.
func setupWith(tb testing.TB, text string, ageOf time.Duration) *auth.Verifier {
	tb.Helper()
	return setupAt(tb, text, ageOf, now)
}

// setupAt is setupWith at another time.
func setupAt(tb testing.TB, text string, ageOf time.Duration, at time.Time) *auth.Verifier {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "credentials.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	c := clock.NewFake(at)
	store, err := credentials.Open(path, c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return auth.New(auth.Config{Keys: store, Clock: c, Age: ageOf, Hosts: []string{host}})
}

// message is a request before it is signed.
type message struct {
	auth.Request
	list, key, id string
	signAs        map[string]string // signed values that differ from the sent ones
}

// vector returns the contract's test vector.
func vector() message {
	return message{
		Request: auth.Request{
			Method: http.MethodPost, Host: host, Target: "/pts/v2/payments", Body: []byte(body),
			Header: http.Header{"V-C-Merchant-Id": {"demo_merchant_1"}, "Date": {date}, "Digest": {digest(body)}},
		},
		list: "host date request-target digest v-c-merchant-id", key: sharedSecret, id: keyID, signAs: map[string]string{},
	}
}

func digest(body string) string {
	sum := sha256.Sum256([]byte(body))
	return "SHA-256=" + base64.StdEncoding.EncodeToString(sum[:])
}

// value returns the signed value of a name.
func (m message) value(name string) string {
	if as, ok := m.signAs[name]; ok {
		return as
	}
	switch name {
	case "host":
		return m.Host
	case "request-target", "(request-target)":
		return strings.ToLower(m.Method) + " " + m.Target
	}
	return m.Header.Get(name)
}

// signed returns the request with its signature.
func (m message) signed(tb testing.TB) auth.Request {
	tb.Helper()
	key, err := base64.StdEncoding.DecodeString(m.key)
	if err != nil {
		tb.Fatal(err)
	}
	var lines []string
	for name := range strings.FieldsSeq(m.list) {
		lines = append(lines, strings.ToLower(name)+": "+m.value(strings.ToLower(name)))
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.Join(lines, "\n")))
	r := m.Request
	r.Header = r.Header.Clone()
	r.Header.Set("Signature", `keyid="`+m.id+`", algorithm="HmacSHA256", headers="`+m.list+`", signature="`+
		base64.StdEncoding.EncodeToString(mac.Sum(nil))+`"`)
	return r
}

// refused checks that the request is rejected, and that the error reveals no caller.
func refused(t *testing.T, v *auth.Verifier, r auth.Request) {
	t.Helper()
	c, err := v.Verify(t.Context(), r)
	if !errors.Is(err, auth.ErrUnauthenticated) {
		t.Fatalf("error = %v, want %v", err, auth.ErrUnauthenticated)
	}
	if auth.Reason(err) == "" {
		t.Error("no reason for the log")
	}
	if c.Merchant != "" || !c.Grant.APIKey.IsZero() {
		t.Errorf("caller = %+v, want no caller", c)
	}
}

// accepted returns the caller. It must be authenticated as merchant.
func accepted(t *testing.T, v *auth.Verifier, r auth.Request, merchant string) auth.Caller {
	t.Helper()
	c, err := v.Verify(t.Context(), r)
	if err != nil {
		t.Fatalf("%v; header %v", err, r.Header)
	}
	if got, want := c.Merchant, merchant; got != want {
		t.Errorf("merchant = %q, want %q", got, want)
	}
	if c.Grant.APIKey.IsZero() {
		t.Error("no API key")
	}
	return c
}
