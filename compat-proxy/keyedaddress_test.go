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
