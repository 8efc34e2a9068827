package specification_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	card    = `"card":{"number":"4111111111111111","exp_month":4,"exp_year":2031}`
	payment = `{"amount":1250,"currency":"usd","payment_method":"card",` + card + `}`
)

// TestV1 has the rows of v1: resources, endpoints, keys, errors and versioning.
func TestV1(t *testing.T) {
	t.Parallel()
	run(t, slices.Concat(capabilities, resources, endpoints, keys))
}

var capabilities = []row{
	{"Creating and listing transactions (card payments), with test and live modes", func(s *service) {
		id := s.post("/v1/transactions", s.Keys.SKTest, payment).want(http.StatusCreated, `"mode":"test"`).id()
		s.get("/v1/transactions?limit=100", s.Keys.SKTest).want(http.StatusOK, id)
		if live := s.get("/v1/transactions?limit=100", s.Keys.SKLive).want(http.StatusOK); strings.Contains(live.body, id) {
			s.Error("the live mode shows a payment of the test mode")
		}
		s.get("/v1/transactions/"+id, s.Keys.SKLive).want(http.StatusNotFound)
	}},
	{"Refunds and customer management, available to secret keys", func(s *service) {
		id := s.post("/v1/transactions", s.Keys.SKTest, payment).id()
		refund := `{"transaction":"` + id + `","amount":250}`
		s.post("/v1/refunds", s.Keys.SKTest, refund).want(http.StatusCreated, `"amount":250`)
		customer := s.post("/v1/customers", s.Keys.SKTest, `{"email":"ana@example.org"}`).want(http.StatusCreated).id()
		s.send(http.MethodPatch, "/v1/customers/"+customer, s.Keys.SKTest, `{"email":"eva@example.org"}`).
			want(http.StatusOK, "eva@example.org")
		s.send(http.MethodDelete, "/v1/customers/"+customer, s.Keys.SKTest, "").want(http.StatusOK)
		s.post("/v1/refunds", s.Keys.PKTest, refund).want(http.StatusForbidden)
		s.post("/v1/customers", s.Keys.PKTest, `{"email":"ana@example.org"}`).want(http.StatusForbidden)
	}},
	{"Creating tokens and confirming payments, available to publishable keys", func(s *service) {
		token := decode[v1.Token](s.post("/v1/tokens", s.Keys.PKTest, `{`+card+`}`).want(http.StatusCreated))
		waiting := decode[v1.Transaction](s.post("/v1/transactions", s.Keys.SKTest,
			`{"amount":1250,"currency":"usd","payment_method":"card","confirm":false}`).want(http.StatusCreated))
		confirm := `{"client_secret":"` + waiting.ClientSecret.Reveal() + `","payment_method":"` + token.Value.Reveal() +
			`","amount":1250,"currency":"usd"}`
		s.post("/v1/transactions/"+waiting.ID+"/confirm", s.Keys.PKTest, confirm).want(http.StatusOK, `"status":"captured"`)
	}},
	{"Compatibility logic must not add fields to the v1 public model", func(s *service) {
		contract := s.get("/v1/openapi.json", "").want(http.StatusOK)
		for _, member := range regexp.MustCompile(`"([a-z0-9_]+)":\{`).FindAllStringSubmatch(contract.body, -1) {
			if name := member[1]; strings.Contains(name, "compat") || strings.Contains(name, "provider") ||
				strings.Contains(name, "legacy") {
				s.Errorf("v1 has a field %s", name)
			}
		}
	}},
}

var resources = []row{
	{"amount | number (integer)", func(s *service) {
		refused := []string{`"amount":12.5`, `"amount":"1250"`, `"amount":-1`, `"amount":null`}
		for _, amount := range append(refused, `"reference":"no amount"`) {
			s.post("/v1/transactions", s.Keys.SKTest, strings.Replace(payment, `"amount":1250`, amount, 1)).
				want(http.StatusBadRequest, `"param":"amount"`)
		}
	}},
	{"currency | string | Lowercase currency code", func(s *service) {
		for _, currency := range []string{`"USD"`, `"us"`, `"zzz"`, `1`, `""`} {
			s.post("/v1/transactions", s.Keys.SKTest, strings.Replace(payment, `"usd"`, currency, 1)).
				want(http.StatusBadRequest, `"param":"currency"`)
		}
		s.post("/v1/transactions", s.Keys.SKTest, strings.Replace(payment, `"usd"`, `"jpy"`, 1)).
			want(http.StatusCreated, `"currency":"jpy"`)
	}},
	{"payment_method | string | Identifies the method; a card is one kind", func(s *service) {
		s.post("/v1/transactions", s.Keys.SKTest, payment).want(http.StatusCreated, `"payment_method":"card"`)
		s.post("/v1/transactions", s.Keys.SKTest, strings.Replace(payment, `"payment_method":"card",`, "", 1)).
			want(http.StatusBadRequest, `"param":"payment_method"`)
	}},
	{"Every authentication error is a JSON object with one key `error`", func(s *service) {
		for _, authorization := range []string{"", "Bearer sk_test_unknown", "Basic dXNlcjpwYXNz", "Bearer"} {
			got := s.get("/v1/transactions", "")
			if authorization != "" {
				got = s.send(http.MethodGet, "/v1/transactions", "", "", "Authorization", authorization)
			}
			got.want(http.StatusUnauthorized)
			whole := decode[map[string]map[string]any](got)
			failure := whole["error"]
			if len(whole) != 1 || failure["type"] != "authentication_error" || failure["code"] != "invalid_api_key" ||
				failure["status"] != 401.0 || failure["message"] == "" {
				s.Errorf("%q: got %s", authorization, got.body)
			}
		}
	}},
	{"sk_test_ | Secret | Test | No real charges", func(s *service) {
		if !strings.HasPrefix(s.Keys.SKTest, "sk_test_") {
			s.Errorf("the prefix of %.8s…", s.Keys.SKTest)
		}
		s.get("/v1/api_keys/current", s.Keys.SKTest).want(http.StatusOK, `"kind":"secret"`, `"mode":"test"`)
	}},
	{"sk_live_ | Secret | Live | Real transactions", func(s *service) {
		if !strings.HasPrefix(s.Keys.SKLive, "sk_live_") {
			s.Errorf("the prefix of %.8s…", s.Keys.SKLive)
		}
		s.get("/v1/api_keys/current", s.Keys.SKLive).want(http.StatusOK, `"kind":"secret"`, `"mode":"live"`)
	}},
	{"pk_ | Publishable | Client-side use; only creates tokens and confirms payments", func(s *service) {
		for _, key := range []string{s.Keys.PKTest, s.Keys.PKLive} {
			if !strings.HasPrefix(key, "pk_") {
				s.Errorf("the prefix of %.8s…", key)
			}
			for _, path := range []string{
				"/v1/transactions", "/v1/refunds", "/v1/customers", "/v1/api_keys", "/v1/api_keys/current", "/v1/events",
				"/v1/webhook_endpoints",
			} {
				s.get(path, key).want(http.StatusForbidden, `"code":"publishable_key_not_allowed"`)
			}
		}
	}},
}
