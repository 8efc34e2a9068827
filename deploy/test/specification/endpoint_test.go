package specification_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

var endpoints = []row{
	{"GET | /v1/transactions | Headers only", func(t *testing.T, s *service) {
		s.get(t, "/v1/transactions", s.Keys.SKTest).want(t, http.StatusOK, `"object":"list"`)
	}},
	{"POST | /v1/transactions | JSON body with amount, currency, payment_method; optional header `Idempotency-Key`", func(
		t *testing.T, s *service,
	) {
		shortest := `{"amount":777,"currency":"usd","payment_method":"card"}`
		s.post(t, "/v1/transactions", s.Keys.SKTest, shortest).want(t, http.StatusCreated, `"amount":777`)
		first := s.post(t, "/v1/transactions", s.Keys.SKTest, shortest, "Idempotency-Key", "optional").want(t, http.StatusCreated)
		again := s.post(t, "/v1/transactions", s.Keys.SKTest, shortest, "Idempotency-Key", "optional").want(t, http.StatusCreated)
		if again.body != first.body {
			t.Errorf("the same key made %s and %s", first.body, again.body)
		}
	}},
	{"GET | /v1/health | Nothing", func(t *testing.T, s *service) {
		s.get(t, "/v1/health", "").want(t, http.StatusOK, `"status":"ok"`)
	}},
	{"GET | /v1/trust/fingerprints | Active certificate fingerprints", func(t *testing.T, s *service) {
		got := decode[v1.TrustFingerprints](t, s.get(t, "/v1/trust/fingerprints", "").want(t, http.StatusOK))
		if len(got.Current) == 0 || len(got.Current[0].CertificateSha256) != 64 || len(got.IssuingCas) == 0 {
			t.Errorf("got %+v", got)
		}
	}},
	{"GET | /v1/mle/keys/current | The current MLE public key for the merchant", func(t *testing.T, s *service) {
		got := s.get(t, "/v1/mle/keys/current", s.Keys.SKTest).want(t, http.StatusOK, `"kid":`, `"jwk":`)
		if strings.Contains(got.body, `"d":`) {
			t.Errorf("the key is not public alone: %s", got.body)
		}
	}},
	{"a rotation calendar at `{trust_url}/calendar.ics` (iCalendar file on a separate trust host)", func(
		t *testing.T, s *service,
	) {
		got := s.get(t, "/v1/trust/calendar.ics", "").want(t, http.StatusOK, "BEGIN:VCALENDAR\r\n", "BEGIN:VEVENT\r\n")
		if kind := got.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/calendar") {
			t.Errorf("got Content-Type %s", kind)
		}
	}},
	{"Edge certificates come from public certificate authorities and rotate automatically every 60 to 90 days", func(
		t *testing.T, s *service,
	) {
		got := decode[v1.TrustFingerprints](t, s.get(t, "/v1/trust/fingerprints", ""))
		if got.Rotation == nil || len(got.Current) == 0 {
			t.Fatalf("got %+v, want a planned rotation", got)
		}
		const day = 24 * time.Hour
		if age := got.Rotation.EffectiveAt.Sub(got.Current[0].NotBefore.Time); age < 60*day || age > 90*day {
			t.Errorf("the certificate is replaced after %v", age)
		}
	}},
	{"tls.cipher_policy.changed and certificate.rotated", func(t *testing.T, s *service) {
		for _, kind := range []string{"tls.cipher_policy.changed", "certificate.rotated"} {
			s.post(t, "/v1/webhook_endpoints", s.Keys.SKTest,
				fmt.Sprintf(`{"url":"https://example.org/hook","enabled_events":[%q]}`, kind)).want(t, http.StatusCreated, kind)
		}
	}},
	{"The public REST interface is versioned by a path prefix: `/v1`", func(t *testing.T, s *service) {
		s.post(t, "/transactions", s.Keys.SKTest, payment).want(t, http.StatusNotFound)
		s.post(t, "/v2/transactions", s.Keys.SKTest, payment).want(t, http.StatusNotFound)
	}},
	{"Compatibility endpoints live under `/compat/` and are isolated from v1", func(t *testing.T, s *service) {
		s.get(t, "/v1/compat/methods", s.Keys.SKTest).want(t, http.StatusNotFound)
		contract := s.get(t, "/v1/openapi.json", "").want(t, http.StatusOK)
		if strings.Contains(contract.body, `"/compat`) {
			t.Error("v1's contract has a compatibility endpoint")
		}
	}},
}

var keys = []row{
	{"Secret keys (prefix `sk_`) … have full API access, including refunds and customer management", func(
		t *testing.T, s *service,
	) {
		for _, path := range []string{
			"/v1/transactions", "/v1/refunds", "/v1/customers", "/v1/api_keys", "/v1/events", "/v1/webhook_endpoints",
			"/v1/mle/keys", "/v1/mle/response_keys", "/v1/test_helpers/clock",
		} {
			s.get(t, path, s.Keys.SKTest).want(t, http.StatusOK)
		}
	}},
	{"keys can be rolled at any time; the old key stays active for 24 hours after the roll", func(
		t *testing.T, s *service,
	) {
		old := s.scoped(t, "transactions:read, keys:write")
		before := time.Now() //nolint:forbidigo // the process under test has the machine's clock
		made := decode[v1.APIKey](t, s.post(t, "/v1/api_keys/"+s.get(t, "/v1/api_keys/current", old).id(t)+"/roll", old, "{}").
			want(t, http.StatusCreated))
		for _, key := range []string{old, made.Secret.Reveal()} {
			s.get(t, "/v1/transactions", key).want(t, http.StatusOK)
		}
		rolled := decode[v1.APIKey](t, s.get(t, "/v1/api_keys/current", old))
		if left := rolled.ExpiresAt.Sub(before); left < 24*time.Hour-time.Second || left > 24*time.Hour+time.Minute {
			t.Errorf("the old key stays active for %v", left)
		}
	}},
	{"A POST request may carry the header `Idempotency-Key` …. A retry with the same key does not create a duplicate",
		func(t *testing.T, s *service) {
			id := s.post(t, "/v1/transactions", s.Keys.SKTest, payment).id(t)
			for path, body := range map[string]string{
				"/v1/transactions": payment,
				"/v1/refunds":      `{"transaction":"` + id + `","amount":1}`,
				"/v1/customers":    `{"email":"ana@example.org"}`,
				"/v1/tokens":       `{` + card + `}`,
			} {
				first := s.post(t, path, s.Keys.SKTest, body, "Idempotency-Key", "retry "+path).want(t, http.StatusCreated).id(t)
				if again := s.post(t, path, s.Keys.SKTest, body, "Idempotency-Key", "retry "+path).id(t); again != first {
					t.Errorf("%s: got %s and %s", path, first, again)
				}
			}
		}},
}
