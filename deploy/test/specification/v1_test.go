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
	{"Creating and listing transactions (card payments), with test and live modes", func(t *testing.T, s *service) {
		id := s.post(t, "/v1/transactions", s.Keys.SKTest, payment).want(t, http.StatusCreated, `"mode":"test"`).id(t)
		s.get(t, "/v1/transactions?limit=100", s.Keys.SKTest).want(t, http.StatusOK, id)
		if live := s.get(t, "/v1/transactions?limit=100", s.Keys.SKLive).want(t, http.StatusOK); strings.Contains(live.body, id) {
			t.Error("the live mode shows a payment of the test mode")
		}
		s.get(t, "/v1/transactions/"+id, s.Keys.SKLive).want(t, http.StatusNotFound)
	}},
	{"Refunds and customer management, available to secret keys", func(t *testing.T, s *service) {
		id := s.post(t, "/v1/transactions", s.Keys.SKTest, payment).id(t)
		refund := `{"transaction":"` + id + `","amount":250}`
		s.post(t, "/v1/refunds", s.Keys.SKTest, refund).want(t, http.StatusCreated, `"amount":250`)
		customer := s.post(t, "/v1/customers", s.Keys.SKTest, `{"email":"ana@example.org"}`).want(t, http.StatusCreated).id(t)
		s.send(t, http.MethodPatch, "/v1/customers/"+customer, s.Keys.SKTest, `{"email":"eva@example.org"}`).
			want(t, http.StatusOK, "eva@example.org")
		s.send(t, http.MethodDelete, "/v1/customers/"+customer, s.Keys.SKTest, "").want(t, http.StatusOK)
		s.post(t, "/v1/refunds", s.Keys.PKTest, refund).want(t, http.StatusForbidden)
		s.post(t, "/v1/customers", s.Keys.PKTest, `{"email":"ana@example.org"}`).want(t, http.StatusForbidden)
	}},
	{"Creating tokens and confirming payments, available to publishable keys", func(t *testing.T, s *service) {
		token := decode[v1.Token](t, s.post(t, "/v1/tokens", s.Keys.PKTest, `{`+card+`}`).want(t, http.StatusCreated))
		waiting := decode[v1.Transaction](t, s.post(t, "/v1/transactions", s.Keys.SKTest,
			`{"amount":1250,"currency":"usd","payment_method":"card","confirm":false}`).want(t, http.StatusCreated))
		s.post(t, "/v1/transactions/"+waiting.ID+"/confirm", s.Keys.PKTest, `{"client_secret":"`+waiting.ClientSecret.Reveal()+
			`","payment_method":"`+token.Value.Reveal()+`","amount":1250,"currency":"usd"}`).want(t, http.StatusOK, `"status":"captured"`)
	}},
	{"Compatibility logic must not add fields to the v1 public model", func(t *testing.T, s *service) {
		contract := s.get(t, "/v1/openapi.json", "").want(t, http.StatusOK)
		for _, member := range regexp.MustCompile(`"([a-z0-9_]+)":\{`).FindAllStringSubmatch(contract.body, -1) {
			if name := member[1]; strings.Contains(name, "compat") || strings.Contains(name, "provider") ||
				strings.Contains(name, "legacy") {
				t.Errorf("v1 has a field %s", name)
			}
		}
	}},
}

var resources = []row{
	{"amount | number (integer)", func(t *testing.T, s *service) {
		refused := []string{`"amount":12.5`, `"amount":"1250"`, `"amount":-1`, `"amount":null`}
		for _, amount := range append(refused, `"reference":"no amount"`) {
			s.post(t, "/v1/transactions", s.Keys.SKTest, strings.Replace(payment, `"amount":1250`, amount, 1)).
				want(t, http.StatusBadRequest, `"param":"amount"`)
		}
	}},
	{"currency | string | Lowercase currency code", func(t *testing.T, s *service) {
		for _, currency := range []string{`"USD"`, `"us"`, `"zzz"`, `1`, `""`} {
			s.post(t, "/v1/transactions", s.Keys.SKTest, strings.Replace(payment, `"usd"`, currency, 1)).
				want(t, http.StatusBadRequest, `"param":"currency"`)
		}
		s.post(t, "/v1/transactions", s.Keys.SKTest, strings.Replace(payment, `"usd"`, `"jpy"`, 1)).
			want(t, http.StatusCreated, `"currency":"jpy"`)
	}},
	{"payment_method | string | Identifies the method; a card is one kind", func(t *testing.T, s *service) {
		s.post(t, "/v1/transactions", s.Keys.SKTest, payment).want(t, http.StatusCreated, `"payment_method":"card"`)
		s.post(t, "/v1/transactions", s.Keys.SKTest, strings.Replace(payment, `"payment_method":"card",`, "", 1)).
			want(t, http.StatusBadRequest, `"param":"payment_method"`)
	}},
	{"Every authentication error is a JSON object with one key `error`", func(t *testing.T, s *service) {
		for _, authorization := range []string{"", "Bearer sk_test_unknown", "Basic dXNlcjpwYXNz", "Bearer"} {
			got := s.get(t, "/v1/transactions", "")
			if authorization != "" {
				got = s.send(t, http.MethodGet, "/v1/transactions", "", "", "Authorization", authorization)
			}
			got.want(t, http.StatusUnauthorized)
			whole := decode[map[string]map[string]any](t, got)
			failure := whole["error"]
			if len(whole) != 1 || failure["type"] != "authentication_error" || failure["code"] != "invalid_api_key" ||
				failure["status"] != 401.0 || failure["message"] == "" {
				t.Errorf("%q: got %s", authorization, got.body)
			}
		}
	}},
	{"sk_test_ | Secret | Test | No real charges", func(t *testing.T, s *service) {
		if !strings.HasPrefix(s.Keys.SKTest, "sk_test_") {
			t.Errorf("the prefix of %.8s…", s.Keys.SKTest)
		}
		s.get(t, "/v1/api_keys/current", s.Keys.SKTest).want(t, http.StatusOK, `"kind":"secret"`, `"mode":"test"`)
	}},
	{"sk_live_ | Secret | Live | Real transactions", func(t *testing.T, s *service) {
		if !strings.HasPrefix(s.Keys.SKLive, "sk_live_") {
			t.Errorf("the prefix of %.8s…", s.Keys.SKLive)
		}
		s.get(t, "/v1/api_keys/current", s.Keys.SKLive).want(t, http.StatusOK, `"kind":"secret"`, `"mode":"live"`)
	}},
	{"pk_ | Publishable | Client-side use; only creates tokens and confirms payments", func(t *testing.T, s *service) {
		for _, key := range []string{s.Keys.PKTest, s.Keys.PKLive} {
			if !strings.HasPrefix(key, "pk_") {
				t.Errorf("the prefix of %.8s…", key)
			}
			for _, path := range []string{
				"/v1/transactions", "/v1/refunds", "/v1/customers", "/v1/api_keys", "/v1/api_keys/current", "/v1/events",
				"/v1/webhook_endpoints",
			} {
				s.get(t, path, key).want(t, http.StatusForbidden, `"code":"publishable_key_not_allowed"`)
			}
		}
	}},
}
