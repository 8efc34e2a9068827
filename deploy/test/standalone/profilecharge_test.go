package standalone_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
)

// profileNumbers are the numbers of a profile for clients.
type profileNumbers struct {
	Customer  string   `json:"customerProfileId"`
	Methods   []string `json:"customerPaymentProfileIdList"`
	Addresses []string `json:"customerShippingAddressIdList"`
}

// mustProfile makes a profile with payment profiles.
func mustProfile(t *testing.T, p *process, email, payments string) profileNumbers {
	t.Helper()
	made := mustAsk(t, p, p.Keys.SKTest, "createCustomerProfileRequest",
		`"profile":{"email":"`+email+`","paymentProfiles":[`+payments+`]}`)
	return readProfile(t, made)
}

// readProfile returns the numbers of a profile in the response to its creation.
func readProfile(t *testing.T, made dialectResponse) profileNumbers {
	t.Helper()
	var ids profileNumbers
	if err := json.Unmarshal([]byte(strings.TrimPrefix(made.body, "\xef\xbb\xbf")), &ids); err != nil ||
		ids.Customer == "" {
		t.Fatalf("create: got %s, error %v", made.body, err)
	}
	return ids
}

// by returns the profile of a charge; without a method it is the customer's default.
func by(customer, method, more string) string {
	if method == "" {
		return `"profile":{"customerProfileId":"` + customer + `"}`
	}
	return `"profile":{"customerProfileId":"` + customer + `","paymentProfile":{"paymentProfileId":"` + method + `"` +
		more + `}}`
}

// TestLegacyProfileCharge charges stored cards with the real core: a card must be the customer's
// own and of an accepted brand. A default and the same payment profile by its number are different
// requests.
func TestLegacyProfileCharge(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	const (
		strange = `"payment":{"creditCard":{"cardNumber":"9999999999999995","expirationDate":"2031-04"}}`
		bank    = `"payment":{"bankAccount":{"routingNumber":"244183602","accountNumber":"123456789","nameOnAccount":"Ana ` +
			`Ruiz"}}`
	)
	ana := mustProfile(t, p, "ana@example.org", `{`+legacyCard+`,"defaultPaymentProfile":true},{`+strange+`},{`+bank+`}`)
	bo := mustProfile(t, p, "bo@example.org", `{`+legacyCard+`}`)
	charge := func(kind, amount, profile string) dialectResponse {
		t.Helper()
		return mustAsk(t, p, p.Keys.SKTest, transact, txnOf(`"`+kind+`","amount":"`+amount+`",`+profile))
	}
	const sale, forced = "authCaptureTransaction", "captureOnlyTransaction"
	for _, tt := range []struct{ what, kind, amount, profile, want string }{
		{"default", sale, "12.00", by(ana.Customer, "", ""), "1/1"},
		{"default again", sale, "12.00", by(ana.Customer, "", ""), "3/11"},
		{"the same by its number", sale, "12.00", by(ana.Customer, ana.Methods[0], ""), "1/1"},
		{"by its number again", sale, "12.00", by(ana.Customer, ana.Methods[0], ""), "3/11"},
		{"of another customer", sale, "14.00", by(ana.Customer, bo.Methods[0], ""), "E00040"},
		{"without a default", sale, "14.00", by(bo.Customer, "", ""), "E00121"},
		{"of no brand", sale, "14.00", by(ana.Customer, ana.Methods[1], ""), "3/6"},
		{"a bank account with a card code", sale, "14.00", by(ana.Customer, ana.Methods[2], `,"cardCode":"900"`), "1/1"},
		{"approved before", forced, "15.00", by(ana.Customer, ana.Methods[0], "") + `,"authCode":"A1B2C3"`, "1/1"},
		{
			"a bank account approved before", forced, "15.00", by(ana.Customer, ana.Methods[2], "") + `,"authCode":"A1B2C3"`,
			"3/53",
		},
	} {
		if a := charge(tt.kind, tt.amount, tt.profile); a.outcome() != tt.want {
			t.Errorf("%s: got %s, want %s", tt.what, a.body, tt.want)
		}
	}
	total := int64(0)
	for _, made := range merchantOf(t, p).transactions(t) {
		total += made.AmountCaptured
	}
	if want := int64(1200 + 1200 + 1400 + 1500); total != want {
		t.Errorf("charged: got %d, want %d", total, want)
	}
}

// TestLegacyProfileChargedAtOnce sends equal requests at the same time, in each round by default or
// by number. One of them charges the stored card.
func TestLegacyProfileChargedAtOnce(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	client := patientClient(t)
	ana := mustProfile(t, p, "ana@example.org", `{`+legacyCard+`,"defaultPaymentProfile":true}`)
	named := "<paymentProfile><paymentProfileId>" + ana.Methods[0] + "</paymentProfileId></paymentProfile>"
	for round := range 8 {
		var all sync.WaitGroup
		for range 6 {
			document := legacyDocument(p,
				fmt.Sprintf("<transactionType>authCaptureTransaction</transactionType><amount>%d.00</amount><profile>"+
					"<customerProfileId>%s</customerProfileId>%s</profile>", round+1, ana.Customer, []string{"", named}[round%2]))
			all.Go(func() {
				a, err := legacyPost(t.Context(), client, p.HTTP, document)
				if got := a.result(); err != nil || got != "1/1" && got != "3/11" {
					t.Errorf("got %s, error %v, want one approved and the others duplicates", a.body, err)
				}
			})
		}
		all.Wait()
	}
	if made := merchantOf(t, p).transactions(t); len(made) != 8 {
		t.Errorf("charges: got %d, want one a round, 8", len(made))
	}
}
