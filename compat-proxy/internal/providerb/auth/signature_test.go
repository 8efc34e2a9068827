package auth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
)

// The vectors are the contract's, whose signatures come from another implementation.
func TestSignatureVectors(t *testing.T) {
	t.Parallel()
	v := setup(t, age)
	get := vector()
	get.Method, get.Target, get.Body = http.MethodGet, "/tss/v2/transactions/7345678901236789404951", nil
	get.Header.Del("Digest")
	for name, tt := range map[string]struct {
		request   auth.Request
		list, mac string
	}{
		"plain label": {
			vector().Request, "host date request-target digest v-c-merchant-id",
			"g9jXpp4OWBbzx/JlkF2HCBG1U1AfogTKyHabJvhJXb8=",
		},
		"parentheses": {
			vector().Request, "host date (request-target) digest v-c-merchant-id",
			"mrqPW6U5zlF9+vAyTpZ5GHmoiMcNt1EqN1I2GtUnXAM=",
		},
		"without body": {
			get.Request, "host date request-target v-c-merchant-id",
			"/zeAKWzLkvr0elewTNWmXMeQCiC1xx2NQErdE85wO5c=",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := tt.request
			r.Header = r.Header.Clone()
			r.Header.Set("Signature", `keyid="`+keyID+`", algorithm="HmacSHA256", headers="`+tt.list+`", signature="`+tt.mac+`"`)
			c := accepted(t, v, r, "demo_merchant_1")
			if c.Pathless || c.MayEncrypt || !strings.Contains(c.Evidence, "v-c-merchant-id: demo_merchant_1") {
				t.Errorf("evidence = %q, pathless %v, may encrypt %v, want all that was signed, and neither", c.Evidence,
					c.Pathless, c.MayEncrypt)
			}
		})
	}
}

// The variants of clients that are equivalent.
func TestSignatureAccepted(t *testing.T) {
	t.Parallel()
	v := setup(t, age)
	for name, change := range map[string]func(*message){
		"another order": func(m *message) { m.list = "v-c-merchant-id digest (request-target) date host" },
		"v-c-date": func(m *message) {
			m.list = strings.Replace(m.list, "date", "v-c-date", 1)
			m.Header.Set("v-c-date", date)
		},
		"names in capitals":     func(m *message) { m.list = "Host Date request-target Digest V-C-Merchant-Id" },
		"no host":               func(m *message) { m.list = "date request-target digest v-c-merchant-id" },
		"the provider's host":   func(m *message) { m.Host = "pay.example:8443"; m.signAs["host"] = host },
		"host without its port": func(m *message) { m.Host = "pay.example:8443"; m.signAs["host"] = "pay.example" },
		"host with its port":    func(m *message) { m.Host = "pay.example:8443" },
		"mounted, short path":   mounted("post /pts/v2/payments"),
		"mounted, whole path":   mounted("post /compat/provider-b/pts/v2/payments"),
		"slash at the end":      func(m *message) { m.Target += "/" },
		"query":                 func(m *message) { m.Target += "?a=1&b=%20" },
		"the second before":     func(m *message) { m.signAs["date"] = "Mon, 01 Dec 2025 05:04:22 GMT" },
		"the second before, short": func(m *message) {
			m.Header.Set("Date", "Mon, 01 Dec 2025 5:04:23 GMT")
			m.signAs["date"] = "Mon, 01 Dec 2025 5:04:22 GMT"
		},
		"short hour":   func(m *message) { m.Header.Set("Date", "Mon, 01 Dec 2025 5:04:23 GMT") },
		"date of Rust": func(m *message) { m.Header.Set("Date", "2025-12-01 5:04:23.123 +00:00:00") },
		"date of Go": func(m *message) {
			m.Header.Set("Date", "2025-12-01 07:04:23.123456789 +0200 EET m=+0.001")
		},
		"date of RFC 5322":     func(m *message) { m.Header.Set("Date", "Mon, 01 Dec 2025 07:04:23 +0200") },
		"the same, no weekday": func(m *message) { m.Header.Set("Date", "1 Dec 2025 05:04:23 +0000") },
		"date at the edge":     func(m *message) { m.Header.Set("Date", now.Add(-age).Format(http.TimeFormat)) },
		"no digest, no body":   func(m *message) { m.Body, m.list = nil, "host date request-target v-c-merchant-id" },
		"digest label in lower": func(m *message) {
			m.Header.Set("Digest", "sha-256="+strings.TrimPrefix(digest(body), "SHA-256="))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := vector()
			change(&m)
			accepted(t, v, m.signed(t), "demo_merchant_1")
		})
	}
}

// mounted sends to a mount path and signs another target.
func mounted(as string) func(*message) {
	return func(m *message) {
		m.Prefix, m.Target = "/compat/provider-b", "/compat/provider-b/pts/v2/payments"
		m.signAs["request-target"] = as
	}
}

func TestSignatureHeaderForms(t *testing.T) {
	t.Parallel()
	v := setup(t, age)
	for name, change := range map[string]func(string) string{
		"algorithm": func(s string) string { return strings.Replace(s, "HmacSHA256", "hmac-sha256", 1) },
		"names": func(s string) string {
			return strings.NewReplacer("keyid", "keyId", "headers=", "Headers=").Replace(s)
		},
		"no spaces":      func(s string) string { return strings.ReplaceAll(s, ", ", ",") },
		"many spaces":    func(s string) string { return strings.ReplaceAll(s, ", ", "  ,\t ") + "  " },
		"unknown member": func(s string) string { return s + `, created="1"` },
		"another order": func(s string) string {
			parts := strings.Split(s, ", ")
			return strings.Join([]string{parts[3], parts[1], parts[0], parts[2]}, ", ")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := vector().signed(t)
			r.Header.Set("Signature", change(r.Header.Get("Signature")))
			accepted(t, v, r, "demo_merchant_1")
		})
	}
}

func TestSignatureRefused(t *testing.T) {
	t.Parallel()
	v := setup(t, age)
	for name, change := range map[string]func(*message){
		"wrong secret":       func(m *message) { m.key = "d3JvbmctLWUtc2hhcmVkLXNlY3JldC0zMi1ieXRlcyEh" },
		"unknown key":        func(m *message) { m.id = "00000000-0000-0000-0000-000000000000" },
		"another's key":      func(m *message) { m.id = otherKeyID },
		"another merchant":   func(m *message) { m.Header.Set("V-C-Merchant-Id", "demo_merchant_2") },
		"unknown merchant":   func(m *message) { m.Header.Set("V-C-Merchant-Id", "unknown") },
		"merchant unsigned":  func(m *message) { m.list = "host date request-target digest" },
		"target unsigned":    func(m *message) { m.list = "host date digest v-c-merchant-id" },
		"digest unsigned":    func(m *message) { m.list = "host date request-target v-c-merchant-id" },
		"date unsigned":      func(m *message) { m.list = "host request-target digest v-c-merchant-id" },
		"listed, not sent":   func(m *message) { m.list += " v-c-date" },
		"listed twice":       func(m *message) { m.list += " date" },
		"nothing listed":     func(m *message) { m.list = "" },
		"sent twice":         func(m *message) { m.Header.Add("Digest", digest("{}")) },
		"stale, of RFC 5322": func(m *message) { m.Header.Set("Date", "Sat, 01 Jan 2000 00:00:00 +0000") },
		"unknown date":       func(m *message) { m.Header.Set("Date", "yesterday") },
		"empty date":         func(m *message) { m.Header.Set("Date", "") },
		"one date unread": func(m *message) {
			m.list += " v-c-date"
			m.Header.Set("V-C-Date", "yesterday")
		},
		"another path":       func(m *message) { m.signAs["request-target"] = "post /pts/v2/payments/1/refunds" },
		"another method":     func(m *message) { m.signAs["request-target"] = "get /pts/v2/payments" },
		"another host":       func(m *message) { m.signAs["host"] = "pay.example" },
		"two seconds before": func(m *message) { m.signAs["date"] = "Mon, 01 Dec 2025 05:04:21 GMT" },
		"the second after":   func(m *message) { m.signAs["date"] = "Mon, 01 Dec 2025 05:04:24 GMT" },
		"stale":              func(m *message) { m.Header.Set("Date", now.Add(-age-time.Second).Format(http.TimeFormat)) },
		"early":              func(m *message) { m.Header.Set("Date", now.Add(age+time.Second).Format(http.TimeFormat)) },
		"stale, of Rust":     func(m *message) { m.Header.Set("Date", "2025-12-01 4:04:23.123 +00:00:00") },
		"digest of another":  func(m *message) { m.Header.Set("Digest", digest(body+" ")) },
		"empty digest":       func(m *message) { m.Header.Set("Digest", "SHA-256=") },
		"digest of MD5":      func(m *message) { m.Header.Set("Digest", "MD5="+digest(body)[8:]) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := vector()
			change(&m)
			refused(t, v, m.signed(t))
		})
	}
}

// Changes to a request after it was signed.
func TestSignatureOfAnotherRequest(t *testing.T) {
	t.Parallel()
	v := setup(t, age)
	for name, change := range map[string]func(*auth.Request){
		"a byte of the body":  func(r *auth.Request) { r.Body = []byte(strings.Replace(body, "102.21", "902.21", 1)) },
		"a byte more":         func(r *auth.Request) { r.Body = append([]byte(body), '\n') },
		"no body":             func(r *auth.Request) { r.Body = nil },
		"path":                func(r *auth.Request) { r.Target = "/pts/v2/credits" },
		"slash":               func(r *auth.Request) { r.Target += "/" },
		"query":               func(r *auth.Request) { r.Target += "?a=1" },
		"method":              func(r *auth.Request) { r.Method = http.MethodPut },
		"date":                func(r *auth.Request) { r.Header.Set("Date", "Mon, 01 Dec 2025 05:04:25 GMT") },
		"body and its digest": func(r *auth.Request) { r.Body = []byte("{}"); r.Header.Set("Digest", digest("{}")) },
		"no signature":        func(r *auth.Request) { r.Header.Del("Signature") },
		"two signatures":      func(r *auth.Request) { r.Header.Add("Signature", r.Header.Get("Signature")) },
		"a bit of the MAC":    edit(`signature="`, `signature="A`),
		"no MAC":              edit(`signature="`, `mac="`),
		"another algorithm":   edit("HmacSHA256", "none"),
		"no algorithm":        edit(`algorithm="HmacSHA256", `, ""),
		"a member twice":      edit(`keyid=`, `keyid="`+otherKeyID+`", keyid=`),
		"without quotes":      edit(`"`+keyID+`"`, keyID),
		"a line between":      edit("host date", "host\ndate x"),
		"an endless header":   edit(`keyid=`, `x="`+strings.Repeat("x", 5000)+`", keyid=`),
		"an endless list":     edit("host date", "host date "+strings.Repeat("x ", 40)),
		"a comma at the end":  edit(`", algorithm`, `",, algorithm`),
		"two headers of login": func(r *auth.Request) {
			r.Header["Authorization"] = []string{"Bearer sk_test_a", "Bearer sk_test_b"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := vector().signed(t)
			change(&r)
			refused(t, v, r)
		})
	}
}

// edit changes the Signature header.
func edit(from, to string) func(*auth.Request) {
	return func(r *auth.Request) {
		r.Header.Set("Signature", strings.Replace(r.Header.Get("Signature"), from, to, 1))
	}
}

// TestSignatureOfAPortfolio: a portfolio's client sends the merchant for which it acts. It signs as
// the portfolio or as the merchant.
func TestSignatureOfAPortfolio(t *testing.T) {
	t.Parallel()
	v := setup(t, age)
	m := vector()
	m.id = portfolioKey
	accepted(t, v, m.signed(t), "demo_merchant_1")
	m.signAs["v-c-merchant-id"] = "demo_portfolio"
	accepted(t, v, m.signed(t), "demo_merchant_1")
	m.Header.Set("V-C-Merchant-Id", "demo_merchant_2")
	refused(t, v, m.signed(t))
	m.Header.Set("V-C-Merchant-Id", "demo_portfolio") // it has no merchant account itself
	refused(t, v, m.signed(t))
}

func TestAcceptedDates(t *testing.T) {
	t.Parallel()
	stale := vector()
	stale.Header.Set("Date", now.Add(-100*24*time.Hour).Format(http.TimeFormat))
	accepted(t, setup(t, 0), stale.signed(t), "demo_merchant_1")
	stale.id = relaxedKey
	stale.Header.Set("V-C-Merchant-Id", "any_date")
	accepted(t, setup(t, age), stale.signed(t), "any_date")
}

// A login with any_date accepts missing and invalid dates. A login with a separate age uses that.
func TestDatesOfLogins(t *testing.T) {
	t.Parallel()
	v := setupWith(t, logins+"    signature_age: 1h\n", age)
	unread, missing := vector(), vector()
	unread.Header.Set("Date", "yesterday")
	missing.list = "host request-target digest v-c-merchant-id"
	for _, m := range []message{unread, missing} {
		refused(t, v, m.signed(t))
		m.id = relaxedKey
		m.Header.Set("V-C-Merchant-Id", "any_date")
		accepted(t, v, m.signed(t), "any_date")
	}
	const aged = `provider_b:
  - merchant_id: demo_merchant_1
    keys: [{id: ` + keyID + `, shared_secret: ` + sharedSecret + `}]
    api_key: sk_test_one
    signature_age: 11h30m
`
	v = setupWith(t, aged, age)
	m := vector()
	m.Header.Set("Date", now.Add(-11*time.Hour).Format(http.TimeFormat)) // a client that writes its local time as GMT
	accepted(t, v, m.signed(t), "demo_merchant_1")
	refused(t, setup(t, age), m.signed(t))
	m.Header.Set("Date", now.Add(-11*time.Hour-30*time.Minute-time.Second).Format(http.TimeFormat))
	refused(t, v, m.signed(t))
	m.Header.Set("Date", "yesterday")
	refused(t, v, m.signed(t))
}

// TestMerchantOfAPortfolioIsBound: a portfolio signs a request as itself. Another merchant in the
// header is refused. If the portfolio has no API key, the merchant is not signed, and v1 binds the
// request to the first merchant that it comes with.
func TestMerchantOfAPortfolioIsBound(t *testing.T) {
	t.Parallel()
	v := setupWith(t, logins+`  - merchant_id: demo_group
    keys: [{id: group, shared_secret: `+sharedSecret+`}]
    portfolio: [demo_merchant_2, demo_merchant_1]
    api_key: sk_test_group
`, age)
	m := vector()
	m.id = "group"
	m.Header.Set("V-C-Merchant-Id", "demo_group")
	own := m.signed(t)
	if c := accepted(t, v, own, "demo_group"); !c.EvidenceKey.IsZero() {
		t.Error("a signed merchant has a witness")
	}
	own.Header.Set("V-C-Merchant-Id", "demo_merchant_1")
	refused(t, v, own)
	m.Header.Set("V-C-Merchant-Id", "demo_merchant_2")
	if c := accepted(t, v, m.signed(t), "demo_merchant_2"); !c.EvidenceKey.IsZero() || c.Login != "demo_group" {
		t.Errorf("caller = %+v, want no witness, and the login", c)
	}

	m.id = portfolioKey
	m.Header.Set("V-C-Merchant-Id", "demo_merchant_1")
	m.signAs["v-c-merchant-id"] = "demo_portfolio"
	if c := accepted(t, v, m.signed(t), "demo_merchant_1"); c.EvidenceKey.Reveal() != "sk_test_one" {
		t.Errorf("witness = %q, want the API key of the first merchant", c.EvidenceKey.Reveal())
	}
}

func TestEvidence(t *testing.T) {
	t.Parallel()
	v := setup(t, age)
	first := accepted(t, v, vector().signed(t), "demo_merchant_1").Evidence
	if again := accepted(t, v, vector().signed(t), "demo_merchant_1").Evidence; again != first {
		t.Error("two sendings of one request differ in evidence")
	}
	for name, change := range map[string]func(*message){
		"body": func(m *message) { m.Body = []byte("{}"); m.Header.Set("Digest", digest("{}")) },
		"date": func(m *message) { m.Header.Set("Date", "Mon, 01 Dec 2025 05:04:24 GMT") },
		"path": func(m *message) { m.Target = "/pts/v2/credits" },
	} {
		m := vector()
		change(&m)
		if accepted(t, v, m.signed(t), "demo_merchant_1").Evidence == first {
			t.Errorf("another %s has the same evidence", name)
		}
	}
}

func TestBearerKey(t *testing.T) {
	t.Parallel()
	v := setup(t, age)
	c := accepted(t, v, auth.Request{Header: http.Header{"Authorization": {"bearer sk_test_direct"}}}, "")
	if got, want := c.Grant.APIKey.Reveal(), "sk_test_direct"; got != want || c.Evidence != "" {
		t.Errorf("key = %q, evidence %q, want %q and none", got, c.Evidence, want)
	}
	for _, header := range []string{"", "Bearer", "Bearer pk_test_a", "Basic sk_test_a", "Bearer Bearer sk_test_a"} {
		refused(t, v, auth.Request{Header: http.Header{"Authorization": {header}}})
	}
}
