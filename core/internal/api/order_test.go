package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// mustPost sends a request to a service, and decodes the object that it creates or changes.
func mustPost[T any](t *testing.T, s *coretest.Service, key, path, body string) T {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.API.ServeHTTP(w, r)
	if w.Code >= http.StatusMultipleChoices {
		t.Fatalf("%s: got %d %s", path, w.Code, w.Body)
	}
	return MustDecode[T](t, response{status: w.Code, body: w.Body.Bytes()}, w.Code)
}

// TestAcquirerGetsTheMerchantsData: an account of live mode gets the whole billing contact and the
// merchant's data of a payment, a confirmation and an unlinked refund.
func TestAcquirerGetsTheMerchantsData(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	key := s.MustKey(t, auth.KeySpec{Merchant: s.Tenant.Merchant, Live: true, Kind: apikey.Secret})
	s.MustExec(t, "UPDATE merchants SET unlinked_refunds = 1")
	const (
		card = `"payment_method":"card","card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}`
		data = `"amount":1999,"currency":"usd","reference":"R-1","description":"boots","statement_descriptor":"BOOTS",
			"order":{"purchase_order_number":"PO-7","tax_amount":150},
			"billing":{"first_name":"Ada","last_name":"Byron","company":"Engines","email":"ada@example.com","phone":"+1 202 555 0100",
				"address":{"line1":"1 Main St","line2":"Flat 2","city":"Springfield","state":"IL","postal_code":"62704","country":"us"}}`
	)
	mustPost[v1.Transaction](t, s, key, "/v1/transactions", `{`+data+`,`+card+`}`)
	waiting := mustPost[v1.Transaction](t, s, key, "/v1/transactions", `{`+data+`,"confirm":false}`)
	mustPost[v1.Transaction](t, s, key, "/v1/transactions/"+waiting.ID+"/confirm", `{`+card+`}`)
	sent := s.Acquirer.Payments()
	if len(sent) != 2 {
		t.Fatalf("got %d payments, want 2", len(sent))
	}
	for _, r := range sent {
		if got, want := r.Billing, (acquirer.Billing{
			FirstName: "Ada", LastName: "Byron", Company: "Engines", AddressLine: "1 Main St", AddressLine2: "Flat 2", City: "Springfield",
			State: "IL", PostalCode: "62704", Country: "US", Email: "ada@example.com", Phone: "+1 202 555 0100",
		}); got != want {
			t.Errorf("%s: got billing %+v, want %+v", r.Reference, got, want)
		}
		if o := r.Order; o.Reference != "R-1" || o.Description != "boots" || o.StatementDescriptor != "BOOTS" ||
			string(o.Details) != `{"purchase_order_number":"PO-7","tax_amount":150}` {
			t.Errorf("%s: got order %+v with %s", r.Reference, o, o.Details)
		}
	}
	mustPost[v1.Refund](t, s, key, "/v1/refunds", `{"amount":500,"currency":"usd","reference":"R-2",`+card+`}`)
	if got := s.Acquirer.Credits(); len(got) != 1 || got[0].Order.Reference != "R-2" {
		t.Errorf("got %+v, want one unlinked refund with its reference", got)
	}
	mustPost[v1.Transaction](t, s, key, "/v1/transactions", `{"amount":700,"currency":"usd","payment_method":"bank_account",
		"bank_account":{"account_number":"000123456789","routing_number":"110000000","account_type":"checking","holder":"Ada Byron"}}`)
	methods := map[acquirer.Method]int{}
	for _, q := range s.Accounts.Queries() {
		methods[q.Method]++
		if q.Merchant != s.Tenant.Merchant || q.Currency != "usd" {
			t.Errorf("got accounts for %+v", q)
		}
	}
	if methods[acquirer.BankAccountMethod] != 1 {
		t.Errorf("got %v, want one payment by a bank account", methods)
	}
}
