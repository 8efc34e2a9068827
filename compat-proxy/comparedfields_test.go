package compatproxy_test

import (
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
)

// comparedA has two values of each field of a transactionRequest in the page's list. The fields
// without a value are in every request, or belong to other operations.
var comparedA = map[string][2]string{
	"transactionType": {}, "amount": {}, "payment": {}, "refTransId": {}, "splitTenderId": {}, "authCode": {},
	"currencyCode":             {`"USD"`, `"EUR"`},
	"profile":                  {stored("false"), stored("true")},
	"solution":                 {`{"id":"1"}`, `{"id":"2"}`},
	"order":                    {`{"invoiceNumber":"1"}`, `{"invoiceNumber":"2"}`},
	"lineItems":                {lineItem("1"), lineItem("2")},
	"tax":                      {`{"amount":"1"}`, `{"amount":"2"}`},
	"duty":                     {`{"amount":"1"}`, `{"amount":"2"}`},
	"shipping":                 {`{"amount":"1"}`, `{"amount":"2"}`},
	"taxExempt":                {`true`, `false`},
	"poNumber":                 {`"1"`, `"2"`},
	"customer":                 {`{"id":"1"}`, `{"id":"2"}`},
	"billTo":                   {`{"zip":"1"}`, `{"zip":"2"}`},
	"shipTo":                   {`{"zip":"1"}`, `{"zip":"2"}`},
	"customerIP":               {`"192.0.2.1"`, `"192.0.2.2"`},
	"cardholderAuthentication": {authenticated("8"), authenticated("9")},
	"retail":                   {`{"marketType":"1"}`, `{"marketType":"2"}`},
	"employeeId":               {`"1"`, `"2"`},
	"surcharge":                {`{"amount":"1"}`, `{"amount":"2"}`},
	"merchantDescriptor":       {`"1"`, `"2"`},
	"tip":                      {`{"amount":"1"}`, `{"amount":"2"}`},
	"processingOptions":        {`{"isFirstRecurringPayment":true}`, `{"isStoredCredentials":true}`},
	"subsequentAuthInformation": {
		`{"originalNetworkTransId":"1","reason":"resubmission"}`, `{"originalNetworkTransId":"2","reason":"resubmission"}`,
	},
	"authorizationIndicatorType": {},
}

// stored also has the customer, without which no profile is made.
func stored(created string) string {
	return `{"createProfile":` + created + `},"customer":{"email":"ana@example.org"}`
}

func setting(name, value string) string {
	return `{"setting":{"settingName":"` + name + `","settingValue":"` + value + `"}}`
}

func lineItem(id string) string {
	return `{"lineItem":{"itemId":"` + id + `","name":"mug","quantity":"1","unitPrice":"1"}}`
}

func authenticated(value string) string {
	return `{"authenticationIndicator":"05","cardholderAuthenticationValue":"AAABAWFlmQAAAABjRWWZEEFgFz` + value + `="}`
}

// listedA returns a list of the page on requests.
func listedA(t *testing.T, name string) []string {
	t.Helper()
	readme, err := os.ReadFile("docs/requests.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(readme), "\nprovider-a, "+name+": ")
	list, _, ended := strings.Cut(list, "\nprovider-")
	if !found || !ended {
		t.Fatalf("docs/requests.md has no list of %s", name)
	}
	return strings.Fields(list)
}

// TestComparedFields: another value of a field in the page's list is another request under an
// Idempotency-Key of provider-a. Other fields are not compared.
func TestComparedFields(t *testing.T) {
	t.Parallel()
	list := listedA(t, "transactionRequest")
	if len(list) != len(comparedA) {
		t.Fatalf("got the list %q, want %d fields", list, len(comparedA))
	}
	f := &keeping{kept: map[string]keptResponse{}, customers: map[string]map[string]any{}}
	proxy := mustProxyOf(t, f, func(c *compatproxy.Config) { c.LenientOrder = true })
	key := 0
	refused := func(name, first, second string) bool {
		t.Helper()
		key++
		for _, value := range []string{first, second} {
			before := f.done()
			body := strings.Replace(sale, `"amount":"24.50"`, `"amount":"24.50","`+name+`":`+value, 1)
			_, got := send(t, http.MethodPost, proxy.URL+path, strings.NewReader(body), keyed(strconv.Itoa(key)))
			switch {
			case strings.Contains(got, "E00013"):
				return value == second
			case value == first && f.done() == before:
				t.Errorf("%s: got %s, want a payment", name, got)
			}
		}
		return false
	}
	for name, values := range comparedA {
		if !slices.Contains(list, name) {
			t.Errorf("the list lacks %s", name)
		}
		if values[0] != "" && !refused(name, values[0], values[1]) {
			t.Errorf("%s: want another value refused", name)
		}
	}
	if refused("userFields", `{"userField":{"name":"a","value":"1"}}`, `{"userField":{"name":"a","value":"2"}}`) ||
		refused("terminalNumber", `"1"`, `"2"`) || refused("callId", `"1"`, `"2"`) {
		t.Error("a field that is not in the list is compared")
	}
	settings := listedA(t, "transactionSettings")
	for _, name := range []string{"allowPartialAuth", "recurringBilling", "emailCustomer", "headerEmailReceipt"} {
		sent := "transactionSettings"
		if got := refused(sent, setting(name, "false"), setting(name, "true")); got != slices.Contains(settings, name) {
			t.Errorf("%s: got another value refused: %v", name, got)
		}
	}
}

// TestComparedOptions: another value of an option in the page's list is another request under an
// Idempotency-Key. Other options are not compared.
func TestComparedOptions(t *testing.T) {
	t.Parallel()
	list := listedA(t, "createCustomerProfileTransactionRequest")
	f := &keeping{kept: map[string]keptResponse{}, customers: map[string]map[string]any{}}
	proxy := mustProxyOf(t, f, nil)
	body := keyedCases()["a, stored sale"].body
	values := "AAABAWFlmQAAAABjRWWZEEFgFz"
	for name, of := range map[string][2]string{
		"x_customer_ip": {"192.0.2.1", "192.0.2.2"}, "x_allow_partial_auth": {"F", "Y"}, "x_currency_code": {"USD", "EUR"},
		"x_authentication_indicator": {"5", "6"}, "x_cardholder_authentication_value": {values + "8=", values + "9="},
		"x_duplicate_window": {"1", "2"}, "x_delim_char": {"%3B", "%7C"}, "x_encap_char": {"", "%22"}, "x_promo": {"a", "b"},
		"x_email_customer": {"TRUE", "FALSE"}, "x_version": {"3.0", "3.1"},
	} {
		var responses []string
		for _, value := range of {
			option := name + "=" + value
			if name == "x_cardholder_authentication_value" {
				option += "&x_authentication_indicator=5"
			}
			sent := strings.TrimSuffix(body, "}}") + `,"extraOptions":"` + option + `"}}`
			_, got := send(t, http.MethodPost, proxy.URL+path, strings.NewReader(sent), keyed(name))
			responses = append(responses, got)
		}
		refused := strings.Contains(responses[1], "E00013")
		if strings.Contains(responses[0], "E00013") || refused != slices.Contains(list, name) {
			t.Errorf("%s: got %q, listed %v", name, responses, list)
		}
	}
}
