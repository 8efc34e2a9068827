package compatproxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/id"
)

// TestIdempotencyKey_updateAddress: an update of a shipping address under a key is not executed
// again, also after its customer was deleted. Another update under the key is refused.
func TestIdempotencyKey_updateAddress(t *testing.T) {
	t.Parallel()
	f, proxies := setupKeeping(t, 0)
	customer, address := id.Format(id.Customer, 905512340), id.Format(id.ShippingAddress, 907000001)
	stored := map[string]any{"id": address, "first_name": "Ana"}
	f.customers[customer] = map[string]any{"id": customer, "shipping_addresses": []any{stored}}
	f.customers[customer+"/shipping_addresses/"+address] = stored
	update := func(key, firstName, want string) {
		t.Helper()
		_, got := send(t, http.MethodPost, proxies[0].URL+path, strings.NewReader(
			`{"updateCustomerShippingAddressRequest":{"merchantAuthentication":{"name":"shop","transactionKey":"`+
				apiKey+`"},"customerProfileId":"905512340","address":{"firstName":"`+firstName+
				`","customerAddressId":"907000001"}}}`), keyed(key))
		if !strings.Contains(got, want) {
			t.Errorf("%s for %s: got %s, want %s", key, firstName, got, want)
		}
	}
	update("k", "Bo", "I00001")
	update("k", "Cy", "E00013")
	update("l", "Di", "I00001")
	update("k", "Bo", "I00001")
	if stored["first_name"] != "Di" {
		t.Errorf("got %v, want the last update", stored)
	}
	delete(f.customers, customer)
	update("k", "Bo", "I00001")
	update("m", "Bo", "E00040")
}

// TestIdempotencyKey_deletedProfile: a validated request adds or changes a payment profile under a
// key. After the customer was deleted, its retry gets the first result. Under another key the
// record is not found, and no issuer is queried.
func TestIdempotencyKey_deletedProfile(t *testing.T) {
	t.Parallel()
	const card = `"creditCard":{"cardNumber":"` + pan + `","expirationDate":"2031-04"}`
	const kept = `"creditCard":{"cardNumber":"XXXX1111","expirationDate":"2031-04"}`
	const billTo = `"billTo":{"address":"1 Elm St","zip":"98004"},`
	changed := func(payment, mode string) string {
		return `"updateCustomerPaymentProfileRequest":{LOGIN,"customerProfileId":"905512340","paymentProfile":{` + billTo +
			`"payment":{` + payment + `},"customerPaymentProfileId":"906650021"},"validationMode":"` + mode + `"}`
	}
	for name, body := range map[string]string{
		"added": `"createCustomerPaymentProfileRequest":{LOGIN,"customerProfileId":"905512340","paymentProfile":{` +
			billTo + `"payment":{` + card + `}},"validationMode":"liveMode"}`,
		"changed": changed(card, "liveMode"), "changed in test mode": changed(card, "testMode"),
		"kept": changed(kept, "liveMode"), "kept in test mode": changed(kept, "testMode"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, proxies := setupKeeping(t, 0)
			customer, method := id.Format(id.Customer, 905512340), id.Format(id.PaymentMethod, 906650021)
			stored := map[string]any{
				"id": method, "customer": customer, "type": "card",
				"card": map[string]any{"brand": "visa", "last4": "1111", "exp_month": 3, "exp_year": 2030},
			}
			f.customers[customer] = map[string]any{"id": customer}
			f.customers[customer+"/payment_methods/"+method] = stored
			f.customers[customer+"/payment_methods"] = map[string]any{"data": []any{stored}}
			ask := func(key, want string) {
				t.Helper()
				login := `"merchantAuthentication":{"name":"shop","transactionKey":"` + apiKey + `"}`
				_, got := send(t, http.MethodPost, proxies[0].URL+path,
					strings.NewReader("{"+strings.Replace(body, "LOGIN", login, 1)+"}"), keyed(key))
				if !strings.Contains(got, want) {
					t.Errorf("%s: got %s, want %s", key, got, want)
				}
			}
			ask("k", "I00001")
			effects := f.done()
			clear(f.customers)
			ask("k", "I00001")
			ask("l", "E00040")
			if f.done() != effects {
				t.Errorf("got %d effects after %d", f.done(), effects)
			}
		})
	}
}
