package standalone_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestLegacyStoredProfile is the life of a stored customer, with the real core. It has two cards, a
// renewed one, a new number under the old id, an address, and the deletions.
func TestLegacyStoredProfile(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	var ask asking = func(method, members, want string) string {
		t.Helper()
		got := mustAsk(t, p, p.Keys.SKTest, method, members).body
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", method, got, want)
		}
		return got
	}
	const ok = `"code":"I00001"`
	ids := mustProfile(t, p, "stored@example.org", firstPaymentProfile)
	of := `"customerProfileId":"` + ids.Customer + `"`
	added := ask("createCustomerPaymentProfileRequest",
		of+`,"paymentProfile":{`+secondPaymentProfile+`,"defaultPaymentProfile":true}`, ok)
	method := madeMethod.FindStringSubmatch(added)
	if method == nil {
		t.Fatalf("created: got %s", added)
	}
	both := of + `,"customerPaymentProfileId":"` + method[1] + `"`
	ask("createCustomerPaymentProfileRequest", of+`,"paymentProfile":{`+secondPaymentProfile+`}`, `"code":"E00039"`)
	ask("getCustomerPaymentProfileRequest", of, `"defaultPaymentProfile":true`)
	change := func(card, want string) {
		t.Helper()
		ask("updateCustomerPaymentProfileRequest", of+`,"paymentProfile":{"payment":{"creditCard":`+card+
			`},"customerPaymentProfileId":"`+method[1]+`"}`, want)
	}
	change(`{"cardNumber":"XXXX0016","expirationDate":"XXXX"}`, `"code":"E00013"`)
	change(`{"cardNumber":"XXXX0015","expirationDate":"2033-07"}`, ok)
	ask("getCustomerProfileRequest", of+`,"unmaskExpirationDate":true`, `"expirationDate":"2033-07"`)
	change(`{"cardNumber":"4007000000027","expirationDate":"2032-01"}`, ok)
	ask("getCustomerPaymentProfileRequest", both, `"cardNumber":"XXXX0027"`)
	ask("validateCustomerPaymentProfileRequest", both+`,"validationMode":"liveMode"`, `"directResponse":"1,1,1,`)
	ask("createTransactionRequest", `"transactionRequest":{"transactionType":"authCaptureTransaction","amount":"5.00",`+
		by(ids.Customer, method[1], "")+`}`, `"accountNumber":"XXXX0027"`)
	shipTo(t, ask, ids.Customer)
	ask("deleteCustomerPaymentProfileRequest", both, ok)
	ask("getCustomerPaymentProfileRequest", of, `"code":"E00121"`)
	ask("updateCustomerProfileRequest", `"profile":{"email":"other@example.org",`+of+`}`, ok)
	ask("getCustomerProfileRequest", `"email":"stored@example.org"`, `"code":"E00040"`)
	ask("getCustomerProfileIdsRequest", `"refId":"r"`, `"`+ids.Customer+`"`)
	ask("deleteCustomerProfileRequest", of, ok)
	ask("deleteCustomerProfileRequest", of, `"code":"E00040"`)
}

// asking sends a request with members, and returns its response, which must contain want.
type asking func(method, members, want string) string

// shipTo is the life of two addresses of a customer.
func shipTo(t *testing.T, ask asking, customer string) {
	t.Helper()
	const ok = `"code":"I00001"`
	of := `"customerProfileId":"` + customer + `"`
	ask("createCustomerShippingAddressRequest", of+`,"address":{"firstName":"Cy"}`, ok)
	shipped := madeAddress.FindStringSubmatch(ask("createCustomerShippingAddressRequest",
		of+`,"address":{"firstName":"Bo","zip":"98030"},"defaultShippingAddress":true`, ok))
	if shipped == nil {
		t.Fatal("the address has no number")
	}
	id := `"customerAddressId":"` + shipped[1] + `"`
	ask("createCustomerShippingAddressRequest", of+`,"address":{"firstName":"Bo","zip":"98030"}`, shipped[1])
	ask("getCustomerProfileRequest", `"email":"stored@example.org"`, `"firstName":"Cy"},{`+id)
	ask("getCustomerShippingAddressRequest", of, `"zip":"98030"`)
	ask("updateCustomerShippingAddressRequest", of+`,"address":{"lastName":"Lee",`+id+`}`, ok)
	ask("createTransactionRequest", `"transactionRequest":{"transactionType":"authCaptureTransaction","amount":"6.00",`+
		`"profile":{"customerProfileId":"`+customer+`","shippingProfileId":"`+shipped[1]+`"}}`, id)
	ask("deleteCustomerShippingAddressRequest", of+","+id, ok)
	ask("deleteCustomerShippingAddressRequest", of+","+id, `"code":"E00040"`)
}

var (
	madeMethod  = regexp.MustCompile(`"customerPaymentProfileId":"([0-9]+)"`)
	madeAddress = regexp.MustCompile(`"customerAddressId":"([0-9]+)"`)
)

const (
	firstPaymentProfile  = `{"payment":{"creditCard":{"cardNumber":"4111111111111111","expirationDate":"2031-04"}}}`
	secondPaymentProfile = `"billTo":{"firstName":"Ana","address":"1 Elm St","zip":"98004"},` +
		`"payment":{"creditCard":{"cardNumber":"5424000000000015","expirationDate":"2030-12"}}`
)
