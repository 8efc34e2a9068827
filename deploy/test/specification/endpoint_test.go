package specification_test

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

var endpoints = []row{
	{"GET | /v1/transactions | Headers only", func(s *service) {
		s.get("/v1/transactions", s.Keys.SKTest).want(http.StatusOK, `"object":"list"`)
	}},
	{"POST | /v1/transactions | JSON body with amount, currency, payment_method; optional header …", func(s *service) {
		shortest := `{"amount":777,"currency":"usd","payment_method":"card"}`
		s.post("/v1/transactions", s.Keys.SKTest, shortest).want(http.StatusCreated, `"amount":777`)
		first := s.post("/v1/transactions", s.Keys.SKTest, shortest, "Idempotency-Key", "optional").want(http.StatusCreated)
		again := s.post("/v1/transactions", s.Keys.SKTest, shortest, "Idempotency-Key", "optional").want(http.StatusCreated)
		if again.body != first.body {
			s.Errorf("the same key made %s and %s", first.body, again.body)
		}
	}},
	{"GET | /v1/health | Nothing", func(s *service) {
		s.get("/v1/health", "").want(http.StatusOK, `"status":"ok"`)
	}},
	{"GET | /v1/trust/fingerprints | Active certificate fingerprints", func(s *service) {
		got := decode[v1.TrustFingerprints](s.get("/v1/trust/fingerprints", "").want(http.StatusOK))
		if len(got.Current) == 0 || len(got.Current[0].CertificateSha256) != 64 || len(got.IssuingCas) == 0 {
			s.Errorf("got %+v", got)
		}
	}},
	{"GET | /v1/mle/keys/current | The current MLE public key for the merchant", func(s *service) {
		got := s.get("/v1/mle/keys/current", s.Keys.SKTest).want(http.StatusOK, `"kid":`, `"jwk":`)
		if strings.Contains(got.body, `"d":`) {
			s.Errorf("the key is not public alone: %s", got.body)
		}
	}},
	{"a rotation calendar at `{trust_url}/calendar.ics` (iCalendar file on a separate trust host)", func(s *service) {
		got := s.get("/v1/trust/calendar.ics", "").want(http.StatusOK, "BEGIN:VCALENDAR\r\n", "BEGIN:VEVENT\r\n")
		if kind := got.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/calendar") {
			s.Errorf("got Content-Type %s", kind)
		}
	}},
	{"Edge certificates … rotate automatically every 60 to 90 days", func(s *service) {
		got := decode[v1.TrustFingerprints](s.get("/v1/trust/fingerprints", ""))
		if got.Rotation == nil || len(got.Current) == 0 {
			s.Fatalf("got %+v, want a planned rotation", got)
		}
		const day = 24 * time.Hour
		if age := got.Rotation.EffectiveAt.Sub(got.Current[0].NotBefore.Time); age < 60*day || age > 90*day {
			s.Errorf("the certificate is replaced after %v", age)
		}
	}},
	{"tls.cipher_policy.changed and certificate.rotated", func(s *service) {
		for _, kind := range []string{"tls.cipher_policy.changed", "certificate.rotated"} {
			s.post("/v1/webhook_endpoints", s.Keys.SKTest,
				fmt.Sprintf(`{"url":"https://example.org/hook","enabled_events":[%q]}`, kind)).want(http.StatusCreated, kind)
		}
	}},
	{"The public REST interface is versioned by a path prefix: `/v1`", func(s *service) {
		s.post("/transactions", s.Keys.SKTest, payment).want(http.StatusNotFound)
		s.post("/v2/transactions", s.Keys.SKTest, payment).want(http.StatusNotFound)
	}},
	{"Compatibility endpoints live under `/compat/` and are isolated from v1", func(s *service) {
		s.get("/v1/compat/methods", s.Keys.SKTest).want(http.StatusNotFound)
		contract := s.get("/v1/openapi.json", "").want(http.StatusOK)
		if strings.Contains(contract.body, `"/compat`) {
			s.Error("v1's contract has a compatibility endpoint")
		}
	}},
}

var keys = []row{
	{"Secret keys (prefix `sk_`) … have full API access, including refunds and customer management", func(s *service) {
		for _, path := range []string{
			"/v1/transactions", "/v1/refunds", "/v1/customers", "/v1/api_keys", "/v1/events", "/v1/webhook_endpoints",
			"/v1/mle/keys", "/v1/mle/response_keys", "/v1/test_helpers/clock",
		} {
			s.get(path, s.Keys.SKTest).want(http.StatusOK)
		}
	}},
	{"keys can be rolled at any time; the old key stays active for 24 hours after the roll", func(s *service) {
		old := s.scoped("transactions:read, keys:write")
		before := time.Now() //nolint:forbidigo // the process under test has the machine's clock
		made := decode[v1.APIKey](s.post("/v1/api_keys/"+s.get("/v1/api_keys/current", old).id()+"/roll", old, "{}").
			want(http.StatusCreated))
		for _, key := range []string{old, made.Secret.Reveal()} {
			s.get("/v1/transactions", key).want(http.StatusOK)
		}
		rolled := decode[v1.APIKey](s.get("/v1/api_keys/current", old))
		if left := rolled.ExpiresAt.Sub(before); left < 24*time.Hour-time.Second || left > 24*time.Hour+time.Minute {
			s.Errorf("the old key stays active for %v", left)
		}
	}},
	{
		"A POST request may carry the header `Idempotency-Key` …. A retry with the same key does not create a duplicate",
		func(s *service) {
			id := s.post("/v1/transactions", s.Keys.SKTest, payment).id()
			for path, body := range map[string]string{
				"/v1/transactions": payment,
				"/v1/refunds":      `{"transaction":"` + id + `","amount":1}`,
				"/v1/customers":    `{"email":"ana@example.org"}`,
				"/v1/tokens":       `{` + card + `}`,
			} {
				first := s.post(path, s.Keys.SKTest, body, "Idempotency-Key", "retry "+path).want(http.StatusCreated).id()
				if again := s.post(path, s.Keys.SKTest, body, "Idempotency-Key", "retry "+path).id(); again != first {
					s.Errorf("%s: got %s and %s", path, first, again)
				}
			}
		},
	},
}
