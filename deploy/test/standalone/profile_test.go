package standalone_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/id"
)

// TestLegacyProfile creates a profile once, and charges, reads and refunds it, with the real core.
func TestLegacyProfile(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	m := merchantOf(t, p)
	key := p.Keys.SKTest
	const create, who = "createCustomerProfileRequest",
		`"profile":{"merchantCustomerId":"c-1","email":"ana@example.org","paymentProfiles":{`
	const billed = `"billTo":{"firstName":"Ana","address":"1 Elm St","zip":"98004"},`

	made := mustAsk(t, p, key, create, who+billed+legacyCard+`}},"validationMode":"liveMode"`)
	var ids struct {
		Customer string   `json:"customerProfileId"`
		Methods  []string `json:"customerPaymentProfileIdList"`
		Said     []string `json:"validationDirectResponseList"`
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(made.body, "\xef\xbb\xbf")), &ids); err != nil ||
		len(ids.Methods) != 1 || len(ids.Said) != 1 {
		t.Fatalf("create: got %s, error %v", made.body, err)
	}
	if again := mustAsk(t, p, key, create, who+legacyCard+"}}"); !strings.Contains(again.body,
		"A duplicate record with ID "+ids.Customer+" already exists.") {
		t.Errorf("create again: got %s", again.body)
	}
	profile := `"profile":{"customerProfileId":"` + ids.Customer + `","paymentProfile":{"paymentProfileId":"` +
		ids.Methods[0] + `"}}`
	sale := txnOf(`"authCaptureTransaction","amount":"12.00",` + profile)
	paid := mustAsk(t, p, key, transact, sale)
	if paid.outcome() != "1/1" || !strings.Contains(paid.body, `"customerPaymentProfileId":"`+ids.Methods[0]+`"`) {
		t.Fatalf("charge: got %s", paid.body)
	}
	if again := mustAsk(t, p, key, transact, sale); again.outcome() != "3/11" {
		t.Errorf("charge again: got %s, want a duplicate", again.body)
	}
	for _, described := range []string{"a gift", "another gift"} { // descriptions are not compared
		again := mustAsk(t, p, key, transact, sale[:len(sale)-1]+`,"order":{"description":"`+described+`"}}`)
		if again.outcome() != "3/11" || !strings.Contains(again.body, `"accountNumber":"XXXX1111","accountType":"Visa"`) {
			t.Errorf("charge again: got %s, want a duplicate by the card that is stored", again.body)
		}
	}
	for name, other := range map[string]string{
		"unknown method": profile[:len(profile)-3] + `7"}}`,
		"no default":     `"profile":{"customerProfileId":"` + ids.Customer + `"}`,
	} {
		want := map[string]string{"unknown method": "E00040", "no default": "E00121"}[name]
		if a := mustAsk(t, p, key, transact, txnOf(`"authCaptureTransaction","amount":"13.00",`+other)); a.outcome() != want {
			t.Errorf("%s: got %s, want %s", name, a.body, want)
		}
	}
	_, rest, _ := strings.Cut(paid.body, `"transId":"`)
	number, _, _ := strings.Cut(rest, `"`)
	if shown := mustAsk(t, p, key, "getTransactionDetailsRequest", `"transId":"`+number+`"`); !strings.Contains(shown.body,
		`"profile":{"customerProfileId":"`+ids.Customer+`","customerPaymentProfileId":"`+ids.Methods[0]+`"}`) {
		t.Errorf("details: got %s", shown.body)
	}
	txn, err := id.Decimal(id.Transaction, number)
	if err != nil {
		t.Fatal(err)
	}
	m.must(t, http.MethodPost, "/v1/test_helpers/transactions/"+txn+"/settle", "", "")
	if a := mustAsk(t, p, key, transact,
		txnOf(`"refundTransaction","amount":"5.00",`+profile+`,"refTransId":"`+number+`"`)); a.outcome() != "1/1" {
		t.Errorf("refund: got %s", a.body)
	}
	other := strings.Replace(profile, ids.Customer, ids.Methods[0], 1)
	if a := mustAsk(t, p, key, transact,
		txnOf(`"refundTransaction","amount":"1.00",`+other+`,"refTransId":"`+number+`"`)); a.outcome() != "E00051" {
		t.Errorf("refund to another: got %s", a.body)
	}
	stored := m.must(t, http.MethodGet, "/v1/customers?reference=c-1", "", "").body
	if strings.Count(stored, `"cus_`) != 1 || strings.Contains(stored, "incomplete") {
		t.Errorf("customers: got %s, want one that is whole", stored)
	}
}
