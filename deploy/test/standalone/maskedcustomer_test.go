package standalone_test

import (
	"net/http"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Two customer numbers in the form of card numbers. Masked, they are equal.
const numberOfAna, numberOfBo = "4000000123081111", "4242424202021111"

const createProfile = "createCustomerProfileRequest"

// TestMaskedCustomersAreApart stores customers of provider-a whose numbers are equal after masking.
// Each has its own profile, cards and payments. A further request for one finds that one.
func TestMaskedCustomersAreApart(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	m := merchantOf(t, p)
	for field, form := range map[string]string{
		"merchantCustomerId": "{number}", "description": "member {number}", "email": "{number}@example.org",
	} {
		send := func(number, card string) dialectResponse {
			return mustAsk(t, p, p.Keys.SKTest, createProfile, strings.NewReplacer(
				"{field}", field, "{value}", strings.Replace(form, "{number}", number, 1), "{card}", card,
			).Replace(`"profile":{"{field}":"{value}","paymentProfiles":[{"payment":{"creditCard":`+
				`{"cardNumber":"{card}","expirationDate":"2031-04"}},"defaultPaymentProfile":true}]}`))
		}
		made := map[string]profileNumbers{}
		for number, card := range cardsOf {
			made[number] = readProfile(t, send(number, card))
		}
		if made[numberOfAna].Customer == made[numberOfBo].Customer {
			t.Errorf("%s: both customers have one profile, %+v", field, made)
		}
		for number, ids := range made {
			want := "A duplicate record with ID " + ids.Customer + " already exists."
			if again := send(number, "4111111111111111"); !strings.Contains(again.body, want) {
				t.Errorf("%s, again: got %s, want %s", field, again.body, want)
			}
			last4 := cardsOf[number][12:]
			paid := mustAsk(t, p, p.Keys.SKTest, transact,
				txnOf(`"authCaptureTransaction","amount":"12.00",`+by(ids.Customer, "", "")))
			if paid.outcome() != "1/1" || !strings.Contains(paid.body, `"accountNumber":"XXXX`+last4+`"`) {
				t.Errorf("%s: charge of %s: got %s, want the card that ends in %s", field, ids.Customer, paid.body, last4)
			}
			customer, methods := v1Profile(t, ids)
			got := m.must(t, http.MethodGet, "/v1/transactions?customer="+customer, "", "")
			list := mustDecode[v1.TransactionList](t, got)
			if len(list.Data) != 1 || list.Data[0].PaymentMethod != methods[0] {
				t.Errorf("%s: payments of %s: got %+v, want one", field, customer, list.Data)
			}
		}
	}
	wantMaskedCustomers(t, m, 6)
}

// cardsOf are the cards of the customers.
var cardsOf = map[string]string{numberOfAna: "4111111111111111", numberOfBo: "5424000000000015"}

// TestMaskedCustomersOfPaymentsAreApart stores the card of a payment of provider-a under customer
// numbers that are equal after masking.
func TestMaskedCustomersOfPaymentsAreApart(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	made := map[string]bool{}
	for number := range cardsOf {
		got := mustAsk(t, p, p.Keys.SKTest, transact, txnOf(`"authCaptureTransaction","amount":"12.00",`+legacyCard+
			`,"profile":{"createProfile":true},"customer":{"id":"`+number+`"}`))
		if got.outcome() != "1/1" || strings.Contains(got.body, "E00039") {
			t.Errorf("%s: got %s, want it paid and a profile made", number, got.body)
		}
		_, response, _ := strings.Cut(got.body, `"profileResponse":{`)
		made[valueOf(response, `"customerProfileId":"`)] = true
	}
	if len(made) != 2 {
		t.Errorf("profiles: got %v, want 2", made)
	}
	wantMaskedCustomers(t, merchantOf(t, p), 2)
}

// TestMaskedRESTCustomersAreApart stores cards of provider-b for customer numbers that are equal
// after masking, and charges them.
func TestMaskedRESTCustomersAreApart(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	made := map[string]bool{}
	for number, card := range cardsOf {
		body := strings.NewReplacer(
			"4111111111111111", card, `"capture":true`, `"capture":true,"actionList":["TOKEN_CREATE"]`,
			`"orderInformation":{`, `"buyerInformation":{"merchantCustomerId":"`+number+`"},"orderInformation":{`,
		).Replace(restPayment("20.00", "USD", true, number))
		paid, again := d.must(t, restPayments, body, "AUTHORIZED"), d.must(t, restPayments, body, "AUTHORIZED")
		customer := valueOf(paid.Body, `"customer":{"id":"`)
		if customer == "" || paid.Body != again.Body {
			t.Fatalf("%s: got %s, then %s; want one customer", number, paid.Body, again.Body)
		}
		made[customer] = true
		d.must(t, restPayments, strings.Replace(restPayment("21.00", "USD", true, "charge-"+number),
			`"card":{"number":"4111111111111111","expirationMonth":"12","expirationYear":"2031"}`,
			`"customer":{"id":"`+customer+`"}`, 1), "AUTHORIZED")
		if all := m.transactions(t); all[0].Card == nil || all[0].Card.Last4 != card[12:] {
			t.Errorf("%s: charge of %s: got the card %+v, want one that ends in %s", number, customer, all[0].Card, card[12:])
		}
	}
	if len(made) != 2 {
		t.Errorf("customers: got %v, want 2", made)
	}
	wantMaskedCustomers(t, m, 2)
}

// valueOf returns the text between the first name and the next quotation mark, "" without the name.
func valueOf(body, name string) string {
	_, rest, _ := strings.Cut(body, name)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// wantMaskedCustomers checks the number of customers at v1, and that they contain no number of a
// test.
func wantMaskedCustomers(t *testing.T, m *merchant, want int) {
	t.Helper()
	got := m.must(t, http.MethodGet, "/v1/customers?limit=100", "", "")
	if list := mustDecode[v1.CustomerList](t, got); len(list.Data) != want {
		t.Errorf("customers: got %d, want %d", len(list.Data), want)
	}
	for number := range cardsOf {
		if !luhn(number) {
			t.Errorf("%s does not pass for a card number", number)
		}
		if strings.Contains(got.body, number) {
			t.Errorf("a customer holds %s", number)
		}
	}
	if !strings.Contains(got.body, "XXXXXXXXXXXX1111") {
		t.Errorf("no customer has a masked number: %s", got.body)
	}
}
