package api_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// kinds of payments. Each except the last ends at its first attempt. M is a customer and P its
// payment method. Q is a payment method without a customer, in a request for M. T is a fresh token.
// The amount decides the acquirer's response.
var kinds = []string{
	`{"amount":1%d,"currency":"usd","payment_method":"card","reference":"order","description":"<ü>"}`,
	`{"amount":2%d,"currency":"jpy","payment_method":"card","capture":"manual"}`,
	`{"amount":3%d,"currency":"usd","payment_method":"card","metadata":{"n":"1"}}`,                    // declined
	`{"amount":4%d,"currency":"usd","payment_method":"card","allow_partial":true,"capture":"manual"}`, // for less
	`{"amount":5%d,"currency":"usd","payment_method":"P","customer":"M","reference":"of M"}`,
	`{"amount":6%d,"currency":"usd","payment_method":"P"}`,
	`{"amount":7%d,"currency":"usd","customer":"M"}`,
	`{"amount":8%d,"currency":"usd","payment_method":"T"}`,
	`{"amount":9%d,"currency":"usd","payment_method":"card","card":{"number":"4111111111111111","exp_month":12,"exp_year":2030,"cvc":"123"}}`,
}

// TestTogetherAsAlonePostgreSQL: payments that are written in batches leave the same rows and get
// the same responses as payments whose commands write them one by one.
func TestTogetherAsAlonePostgreSQL(t *testing.T) {
	t.Parallel()
	together, alone := coretest.OpenShared(t), coretest.OpenAlone(t)
	biggest := 0
	var mu sync.Mutex
	together.DB.Observe(func(g store.Batch) {
		mu.Lock()
		defer mu.Unlock()
		biggest = max(biggest, g.Commands)
	}, nil)
	batched, single := mustLedger(t, together), mustLedger(t, alone)
	for what, want := range single {
		got := batched[what]
		if len(got) != len(want) {
			t.Fatalf("%s: got %d together, %d alone", what, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s:\ntogether %s\nalone    %s", what, got[i], want[i])
			}
		}
		if len(want) == 0 {
			t.Errorf("%s: nothing was compared", what)
		}
	}
	if biggest < 2 {
		t.Error("no two payments were in one batch")
	}
}

// mustLedger makes payments of each kind, many at the same time. It returns their responses and the
// resulting rows of the tables, without the random values.
func mustLedger(t *testing.T, s *coretest.Service) map[string][]string {
	t.Helper()
	s.Acquirer.Decide = func(c coretest.Call) string {
		return map[bool]string{true: "insufficient_funds"}[fmt.Sprint(c.Amount)[0] == '3']
	}
	s.Acquirer.Grant = func(c coretest.Call) int64 {
		if fmt.Sprint(c.Amount)[0] == '4' {
			return c.Amount - 1
		}
		return c.Amount
	}
	must := func(route string) string {
		t.Helper()
		status, body := sendTo(t, s, s.Key, route, "")
		if status != 201 {
			t.Fatalf("%s: got %d %v", route, status, body)
		}
		if value, ok := body["value"].(string); ok {
			return value
		}
		return body["id"].(string)
	}
	const card = `POST /v1/tokens {"card":{"number":"4111111111111111","exp_month":12,"exp_year":2030,"cvc":"123"}}`
	must(`POST /v1/webhook_endpoints {"url":"https://example.com/","enabled_events":["transaction.captured","transaction.declined"]}`)
	customer := must("POST /v1/customers {}")
	method := must("POST /v1/customers/" + customer + `/payment_methods {"token":"` + must(card) + `"}`)
	if status, body := sendTo(t, s, s.Key, "PATCH /v1/customers/"+customer+` {"default_payment_method":"`+method+`"}`, ""); status != 200 {
		t.Fatalf("default: got %d %v", status, body)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	batched := []string{}
	room := make(chan struct{}, 40) // fewer than the share of one merchant
	for n := 10; n < 22; n++ {
		for i, kind := range kinds {
			body := strings.NewReplacer(`"M"`, `"`+customer+`"`, `"P"`, `"`+method+`"`).Replace(fmt.Sprintf(kind, n))
			if strings.Contains(body, `"T"`) {
				body = strings.ReplaceAll(body, "T", must(card))
			}
			key := map[bool]string{true: fmt.Sprintf("key %d of %d", n, i)}[n > 12]
			room <- struct{}{}
			all.Go(func() {
				defer func() { <-room }()
				status, response := sendTo(t, s, s.Key, "POST /v1/transactions "+body, key)
				mu.Lock()
				defer mu.Unlock()
				batched = append(batched, drawn(fmt.Sprint(body, status, response)))
			})
		}
	}
	all.Wait()
	slices.Sort(batched)
	out := map[string][]string{"responses": batched}
	for table, order := range map[string]string{
		"transactions": "amount", "captures": "amount", "idempotency_keys": "key", "tokens": "id",
		"events": "data", "transaction_terms": "1", "webhook_deliveries": "1",
	} {
		for _, row := range s.Texts(t, "SELECT (to_jsonb(t) - 'core_id' - 'position' - 'term_position' - 'body')::text FROM "+table+" t ORDER BY "+order) {
			out[table] = append(out[table], drawn(row))
		}
		slices.Sort(out[table])
	}
	for _, row := range s.Texts(t, `SELECT t.amount || ' ' || COALESCE(convert_from(k.body, 'UTF8'), '') || (SELECT COUNT(*) FROM captures c WHERE c.transaction_id = t.id
			AND c.amount = t.amount_captured) || e.type || (SELECT COUNT(*) FROM webhook_deliveries d WHERE d.event_id = e.id)
			|| (SELECT COUNT(*) FROM tokens o WHERE o.used_by = t.id AND NOT EXISTS (SELECT 1 FROM security_codes WHERE token_id = o.id)) || (SELECT COUNT(*) FROM transaction_terms r WHERE r.transaction_id = t.id)
		FROM transactions t JOIN events e ON e.object_id = t.id LEFT JOIN idempotency_keys k ON strpos(convert_from(k.body, 'UTF8'), '"amount":' || t.amount || ',') > 0`) {
		out["what belongs together"] = append(out["what belongs together"], drawn(row))
	}
	slices.Sort(out["what belongs together"])
	return out
}

var (
	drawnID     = regexp.MustCompile(`\b([a-z]+)_[0-9a-hjkmnp-tv-z]{13}(_[0-9a-hjkmnp-tv-z]{32})?`)
	drawnNumber = regexp.MustCompile(`\b[0-9]{15,}\b|\b[0-9a-f]{32}\b|"(id|vault_key)": ?[0-9]+|"(number|fingerprint|key|secret_hash)": ?"[^"]*"|client_secret:\S+`)
)

// drawn returns a text without its ids and random numbers.
func drawn(text string) string {
	return drawnNumber.ReplaceAllString(drawnID.ReplaceAllString(text, "${1}_"), "#")
}

// TestAnEndpointOfAnotherCorePostgreSQL: a core has responded that an endpoint was created or
// deleted. From then on the events of payments at another core are delivered to it, or no longer
// delivered.
func TestAnEndpointOfAnotherCorePostgreSQL(t *testing.T) {
	t.Parallel()
	first := coretest.OpenShared(t)
	second := first.Beside(t)
	pay := func(want int64) {
		t.Helper()
		for range 2 { // the second time the core has it cached
			before := first.Number(t, "SELECT COUNT(*) FROM webhook_deliveries")
			if status, body := sendTo(t, second, first.Key, changes[0], ""); status != 201 {
				t.Fatalf("got %d %v", status, body)
			}
			if got := first.Number(t, "SELECT COUNT(*) FROM webhook_deliveries") - before; got != want {
				t.Errorf("got %d deliveries, want %d", got, want)
			}
		}
	}
	pay(0)
	for range 3 {
		status, made := sendTo(t, first, first.Key, `POST /v1/webhook_endpoints {"url":"https://example.com/","enabled_events":["*"]}`, "")
		if status != 201 {
			t.Fatalf("got %d %v", status, made)
		}
		pay(1)
		if status, gone := sendTo(t, first, first.Key, "DELETE /v1/webhook_endpoints/"+made["id"].(string), ""); status != 200 {
			t.Fatalf("got %d %v", status, gone)
		}
		pay(0)
	}
}
