package standalone_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/id"
)

// profileChanges are changes of a customer at v1. {second} and {strange} stand for payment methods,
// and {address} for its shipping address.
var profileChanges = map[string]struct{ method, path, body string }{
	"another default":         {http.MethodPatch, "", `{"default_payment_method":"{second}"}`},
	"a default of no brand":   {http.MethodPatch, "", `{"default_payment_method":"{strange}"}`},
	"no default":              {http.MethodPatch, "", `{"default_payment_method":""}`},
	"another address":         {http.MethodPatch, "/shipping_addresses/{address}", `{"last_name":"Bo"}`},
	"no address":              {http.MethodDelete, "/shipping_addresses/{address}", ""},
	"no such payment profile": {http.MethodDelete, "/payment_methods/{first}", ""},
	"no customer":             {http.MethodDelete, "", ""},
}

// TestLegacyProfileChangedBeforeTheRetry changes a customer between a payment whose response was
// lost and its retry. The request names neither the payment profile nor the address. The retry is a
// duplicate of the first attempt, whether or not the customer has changed.
func TestLegacyProfileChangedBeforeTheRetry(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	m, client := merchantOf(t, p), patientClient(t)
	other := startReplica(t, p.HTTP, logins(dir))
	for name, change := range profileChanges {
		for order, splitTender := range map[string]string{
			"a payment": "", "of an order": "<splitTenderId>" + partlyPaid(t, p) + "</splitTenderId>",
		} {
			t.Run(name+", "+order, func(t *testing.T) {
				ids := mustProfile(t, p, strings.ReplaceAll(name+order, " ", "-")+"@example.org", threeCards)
				customer, methods := v1Profile(t, ids)
				address := v1Address(t, ids)
				before := len(m.transactions(t))
				document := legacyDocument(p, fmt.Sprintf("<transactionType>authCaptureTransaction</transactionType>"+
					"<amount>12.00</amount><profile><customerProfileId>%s</customerProfileId>"+
					"<shippingProfileId>%s</shippingProfileId></profile>%s", ids.Customer, ids.Addresses[0], splitTender))
				way := startRelay(t, p.HTTP)
				killed := startReplica(t, way.base, logins(dir))
				way.fate, way.die = nth(1, diesAfter), killed.Kill
				if got, err := legacyPost(t.Context(), client, killed.base, document); err == nil {
					t.Fatalf("the proxy returned %s, want the response lost", got.body)
				}
				changed := strings.NewReplacer(
					"{first}", methods[0], "{second}", methods[1], "{strange}", methods[2], "{address}", address)
				path := "/v1/customers/" + customer + changed.Replace(change.path)
				got := m.must(t, change.method, path, "", changed.Replace(change.body))
				if got.status/100 != 2 {
					t.Fatalf("the change: got %s", got.body)
				}
				wantResult(t, "retry", mustPost(t, client, other.base, document), "3/11")
				all := m.transactions(t)
				if len(all) != before+1 || all[0].PaymentMethod != methods[0] {
					t.Errorf("got %d payments more, the last by %s; want 1 by %s", len(all)-before, all[0].PaymentMethod, methods[0])
				}
			})
		}
	}
}

// threeCards are the payment profiles and the address of a customer. The last card has no known
// brand.
const threeCards = `{` + legacyCard + `,"defaultPaymentProfile":true},` +
	`{"payment":{"creditCard":{"cardNumber":"5424000000000015","expirationDate":"2031-04"}}},` +
	`{"payment":{"creditCard":{"cardNumber":"9999999999999995","expirationDate":"2031-04"}}}],` +
	`"shipToList":[{"lastName":"Ana"}`

// v1Profile returns the ids at v1 of a profile.
func v1Profile(t *testing.T, ids profileNumbers) (customer string, methods []string) {
	t.Helper()
	customer, err := id.Decimal(id.Customer, ids.Customer)
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range ids.Methods {
		method, err := id.Decimal(id.PaymentMethod, number)
		if err != nil {
			t.Fatal(err)
		}
		methods = append(methods, method)
	}
	return customer, methods
}

// v1Address returns the id of the first address of a profile in v1.
func v1Address(t *testing.T, ids profileNumbers) string {
	t.Helper()
	address, err := id.Decimal(id.ShippingAddress, ids.Addresses[0])
	if err != nil {
		t.Fatal(err)
	}
	return address
}
