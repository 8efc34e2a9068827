package providera_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
)

// TestDetailsFitTheSchema: v1 allows values that the dialect's schema does not. Details have a text
// that is too long cut, and no value of another form. A required element is always there.
func TestDetailsFitTheSchema(t *testing.T) {
	t.Parallel()
	const (
		bank = `"bank_account":{"account_type":"checking","holder":"Ana","last4":"8535","routing_number":"121042882"}`
		card = `"card":{"brand":"visa","last4":"1111"}`
	)
	long := strings.Repeat("é", 500)
	metadata := func(key, value string) string { return `,"metadata":{"` + key + `":"` + value + `"}` }
	network := func(id string) string { return `,"authorization":{"network_transaction_id":"` + id + `"}` }
	earlier := func(id string) string { return `,"initiator":{"previous_network_transaction_id":"` + id + `"}` }
	for name, c := range map[string]struct{ payment, want, absent string }{
		"customer type":       {card + metadata("customer_type", "business"), "<type>business</type>", ""},
		"other customer type": {card + metadata("customer_type", "vip"), "", "<customer>"},
		"customer e-mail":     {card + metadata("customer_email", long), "<email>" + long[:2*255] + "</email>", ""},
		"fax":                 {card + metadata("billing_fax", long), "<faxNumber>" + long[:2*25] + "</faxNumber>", ""},
		"group":               {card + metadata("payment_group", "a-1"), "", "<splitTenderId>"},
		"echeck type":         {bank + metadata("echeck_type", "PPD"), "<echeckType>PPD</echeckType>", ""},
		"other echeck type":   {bank + metadata("echeck_type", "ppd"), "", "<echeckType>"},
		"bank name":           {bank + metadata("bank_name", long), "<bankName>" + long[:2*50] + "</bankName>", ""},
		"no holder":           {strings.Replace(bank, "Ana", "", 1), "<nameOnAccount />", ""},
		"no account number":   {strings.Replace(bank, "8535", "", 1), "<accountNumber>XXXXXXXX</accountNumber>", ""},
		"no routing number":   {strings.Replace(bank, "121042882", "", 1), "<routingNumber>XXXXXXXX</routingNumber>", ""},
		"no card number":      {strings.Replace(card, "1111", "", 1), "<cardNumber>XXXXXXXX</cardNumber>", ""},
		"network id":          {card + network("MCC 12"), "<networkTransId>MCC 12</networkTransId>", ""},
		"other network id":    {card + network("MCC-12"), "", "<networkTransId>"},
		"earlier network id":  {card + earlier("1A"), "<originalNetworkTransId>1A</originalNetworkTransId>", ""},
		"other earlier id":    {card + earlier("1-A"), "", "<originalNetworkTransId>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request, _ := mustRequest(t, "testdata/details-foreign-metadata")
			_, response := responseTo(t, scenario{V1: []goldentest.Exchange{{
				Request: "GET /v1/transactions/txn:60410000130", Status: http.StatusOK,
				Response: []byte(`{"id":"txn:60410000130","status":"captured","amount":2500,"currency":"usd",` +
					`"capture":"automatic","created_at":"2026-03-02T15:04:05Z",` + c.payment + `}`),
			}}}, request)
			got := string(response)
			if !strings.Contains(got, c.want) || c.absent != "" && strings.Contains(got, c.absent) ||
				!strings.Contains(got, "</transaction>") {
				t.Errorf("got %s, want %s, and not %s", got, c.want, c.absent)
			}
		})
	}
}

// TestNetworkIDFitsTheSchema: the response to a payment has no network id of another form either.
func TestNetworkIDFitsTheSchema(t *testing.T) {
	t.Parallel()
	request, _ := mustRequest(t, "testdata/x1-sale")
	for id, want := range map[string]bool{"MCC 12": true, "MCC-12": false} {
		s := mustScenario(t, "testdata/x1-sale/case.json")
		made := string(s.V1[len(s.V1)-1].Response)
		changed := networkID.ReplaceAllString(made, `"network_transaction_id": "`+id+`"`)
		if changed == made {
			t.Fatal("the payment has no network id")
		}
		s.V1[len(s.V1)-1].Response = []byte(changed)
		_, got := responseTo(t, s, request)
		has := strings.Contains(string(got), "<networkTransId>"+id+"<")
		if has != want || !strings.Contains(string(got), "approved") {
			t.Errorf("%s: got %s", id, got)
		}
	}
}

// networkID matches the network id of a payment.
var networkID = regexp.MustCompile(`"network_transaction_id": ?"[^"]*"`)
