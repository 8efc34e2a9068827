package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// sendTo sends a request under an API key, and an idempotency key unless that is "".
func sendTo(t *testing.T, s *coretest.Service, key, route, idempotency string) (status int, body map[string]any) {
	t.Helper()
	words := strings.SplitN(route+"  ", " ", 3)
	r := httptest.NewRequestWithContext(t.Context(), words[0], words[1], strings.NewReader(strings.TrimSpace(words[2])))
	r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	if idempotency != "" {
		r.Header.Set("Idempotency-Key", idempotency)
	}
	w := httptest.NewRecorder()
	s.API.ServeHTTP(w, r)
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Errorf("%s: %v", route, err)
	}
	return w.Code, body
}

// mustKey makes a secret key that a service has just used, so that it is cached.
func mustKey(t *testing.T, s *coretest.Service) (secret, shown string) {
	t.Helper()
	key := s.MustKey(t, auth.KeySpec{Merchant: s.Tenant.Merchant, Kind: apikey.Secret})
	status, body := sendTo(t, s, key, "GET /v1/api_keys/current", "")
	if status != 200 {
		t.Fatalf("a fresh key: got %d %v", status, body)
	}
	return key, body["id"].(string)
}

// changes are requests that change something, one of each kind. A is an authorized transaction, C a
// captured one, K an API key, M a customer and E a webhook endpoint.
var changes = []string{
	`POST /v1/transactions {"amount":100,"currency":"usd","payment_method":"card"}`,
	`POST /v1/transactions {"amount":100,"currency":"usd","payment_method":"card","confirm":false}`,
	`PATCH /v1/transactions/A {"description":"x"}`, "POST /v1/transactions/A/captures {}", "POST /v1/transactions/A/void", `POST /v1/refunds {"transaction":"C"}`, `POST /v1/refunds {"transaction":"C","amount":1}`,
	"POST /v1/customers {}", "DELETE /v1/customers/M", `PATCH /v1/customers/M {"description":"x"}`,
	`POST /v1/tokens {"card":{"number":"4111111111111111","exp_month":12,"exp_year":2030}}`,
	`POST /v1/api_keys {"kind":"secret"}`, "POST /v1/api_keys/K/roll {}", "DELETE /v1/api_keys/K",
	`POST /v1/webhook_endpoints {"url":"https://example.com/","enabled_events":["*"]}`, "DELETE /v1/webhook_endpoints/E", "POST /v1/webhook_endpoints/E/roll_secret {}",
	"POST /v1/test_helpers/settlement_runs", "POST /v1/test_helpers/transactions/C/settle", `POST /v1/test_helpers/clock/advance {"seconds":1}`,
}

// TestAKeyThatEndedElsewherePostgreSQL: a core has responded that a key is revoked, or rolled
// without an overlap, or that its merchant is out of service. Then another core that has just
// accepted the key executes no request under it, and replays no response.
func TestAKeyThatEndedElsewherePostgreSQL(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(t *testing.T, s *coretest.Service, key string)
		want int
	}{
		"revoked": {func(t *testing.T, s *coretest.Service, key string) {
			t.Helper()
			if status, body := sendTo(t, s, s.Key, "DELETE /v1/api_keys/"+key, ""); status != 200 {
				t.Fatalf("revoke: %d %v", status, body)
			}
		}, 401},
		"rolled": {func(t *testing.T, s *coretest.Service, key string) {
			t.Helper()
			if status, body := sendTo(t, s, s.Key, "POST /v1/api_keys/"+key+`/roll {"expires_in":0}`, ""); status != 201 {
				t.Fatalf("roll: %d %v", status, body)
			}
		}, 401},
		"out of service": {func(t *testing.T, s *coretest.Service, _ string) {
			t.Helper()
			if err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.DisableMerchant(s.Tenant.Merchant, true) }); err != nil {
				t.Fatal(err)
			}
		}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := coretest.OpenShared(t) // its clock stands still, so cached keys never expire
			second := first.Beside(t)
			objects := mustObjects(t, first)
			before := things(t, first)
			for _, route := range append(changes, "GET /v1/api_keys/current") {
				for _, idempotency := range []string{"", "k" + route[:20]} {
					if idempotency != "" && !strings.HasPrefix(route, "POST") {
						continue
					}
					key, shown := mustKey(t, second)
					c.end(t, first, shown)
					if status, body := sendTo(t, second, key, objects.Replace(route), idempotency); status != c.want {
						t.Errorf("%s under %q: got %d %v, want %d", route, idempotency, status, body, c.want)
					}
					mustEnable(t, first)
				}
			}
			if after := things(t, first); after != before {
				t.Errorf("rows: %v before, %v after", before, after)
			}
			key, shown := mustKey(t, second)
			if status, body := sendTo(t, second, key, changes[0], "once"); status != 201 {
				t.Fatalf("before: got %d %v", status, body)
			}
			c.end(t, first, shown)
			if status, body := sendTo(t, second, key, changes[0], "once"); status != c.want {
				t.Errorf("an earlier response: got %d %v", status, body)
			}
		})
	}
}

// things counts what changes make.
func things(t *testing.T, s *coretest.Service) (n [6]int64) {
	t.Helper()
	for i, table := range []string{"transactions", "refunds", "customers", "tokens", "webhook_endpoints", "idempotency_keys"} {
		n[i] = s.Number(t, "SELECT COUNT(*) FROM "+table)
	}
	return n
}

func mustEnable(t *testing.T, s *coretest.Service) {
	t.Helper()
	if err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.DisableMerchant(s.Tenant.Merchant, false) }); err != nil {
		t.Fatal(err)
	}
}

// mustObjects makes the objects that changes refer to, and returns a replacer that puts their ids
// into requests.
func mustObjects(t *testing.T, s *coretest.Service) *strings.Replacer {
	t.Helper()
	made := func(route string) string {
		t.Helper()
		status, body := sendTo(t, s, s.Key, route, "")
		if status != 201 {
			t.Fatalf("%s: got %d %v", route, status, body)
		}
		return body["id"].(string)
	}
	const pay = `POST /v1/transactions {"amount":100,"currency":"usd","payment_method":"card","capture":"%s"}`
	_, key := mustKey(t, s)
	return strings.NewReplacer("/A/", "/"+made(fmt.Sprintf(pay, "manual"))+"/", "/A ", "/"+made(fmt.Sprintf(pay, "manual"))+" ", `"C"`, `"`+made(fmt.Sprintf(pay, "automatic"))+`"`,
		"/C/", "/"+made(fmt.Sprintf(pay, "automatic"))+"/", "api_keys/K", "api_keys/"+key, "customers/M", "customers/"+made("POST /v1/customers {}"),
		"webhook_endpoints/E", "webhook_endpoints/"+made(`POST /v1/webhook_endpoints {"url":"https://example.com/","enabled_events":["*"]}`))
}

// TestARevocationUnderLoadPostgreSQL: after the response to a revocation, no core accepts a payment
// under the key.
func TestARevocationUnderLoadPostgreSQL(t *testing.T) {
	t.Parallel()
	first := coretest.OpenShared(t)
	second := first.Beside(t)
	for range 20 {
		key, shown := mustKey(t, second)
		var responded atomic.Bool
		paid, ended := 0, make(chan struct{})
		go func() {
			defer close(ended)
			for n := 0; ; n++ {
				late := responded.Load()
				status, body := sendTo(t, second, key, changes[0], map[bool]string{true: id.Format(id.Request, second.IDs.Next())}[n%2 == 0])
				if status == 401 {
					return
				}
				if status != 201 || late {
					t.Errorf("after the response: %t: got %d %v", late, status, body)
					return
				}
				paid++
			}
		}()
		if status, body := sendTo(t, first, first.Key, "DELETE /v1/api_keys/"+shown, ""); status != 200 {
			t.Fatalf("revoke: got %d %v", status, body)
		}
		responded.Store(true)
		<-ended
		t.Logf("%d payments before it", paid)
	}
}
