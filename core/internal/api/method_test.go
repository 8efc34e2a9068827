package api_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (b *bundle) attach(t *testing.T, customer, token string, options ...option) response {
	t.Helper()
	return b.post(t, "/v1/customers/"+customer+"/payment_methods", `{"token":"`+token+`"}`, options...)
}

// MustAttach makes a payment method of a customer from the body of a token.
func (b *bundle) MustAttach(t *testing.T, customer, token string) v1.PaymentMethod {
	t.Helper()
	return MustDecode[v1.PaymentMethod](t, b.attach(t, customer, b.MustToken(t, token).Value.Reveal()), 201)
}

func TestPaymentMethod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, ann).ID
	token := b.MustToken(t, visa)
	first := b.attach(t, customer, token.Value.Reveal(), keyed("k"))
	m := MustDecode[v1.PaymentMethod](t, first, 201)
	if m.Customer != customer || m.Kind != v1.StoredKindCard || m.Card.Last4 != "4242" || m.Card.Fingerprint != token.Card.Fingerprint || *m.Card.Holder != "A. Payer" {
		t.Errorf("got %+v", m)
	}
	wantReplay(t, b.attach(t, customer, token.Value.Reveal(), keyed("k")), first)
	path := "/v1/customers/" + customer + "/payment_methods/" + m.ID
	wantSameJSON(t, MustDecode[v1.PaymentMethod](t, b.get(t, path), 200), m)

	b.clock.Advance(30 * 24 * time.Hour)
	for _, more := range []string{"", manual, `,"customer":"` + customer + `"`} {
		txn := MustDecode[v1.Transaction](t, b.pay(t, m.ID, more), 201)
		if txn.PaymentMethod != m.ID || txn.Customer == nil || *txn.Customer != customer || txn.Card.Last4 != "4242" {
			t.Errorf("transaction: got %+v", txn)
		}
		if got, want := txn.Checks.Cvc, v1.CheckResult("not_provided"); got != want {
			t.Errorf("cvc: got %s, want %s: it must not have been stored", got, want)
		}
	}

	charged := b.pay(t, m.ID, "", keyed("paid"))
	MustDecode[v1.Transaction](t, charged, 201)
	gone := MustDecode[v1.Deleted](t, b.do(t, "DELETE", path, ""), 200)
	wantSameJSON(t, gone, v1.Deleted{ID: m.ID, Object: "payment_method", Deleted: true})
	before := b.rows(t)
	wantRefusal(t, b.pay(t, m.ID, "", keyed("later")), invalid("unknown_payment_method", "payment_method"))
	wantReplay(t, b.pay(t, m.ID, "", keyed("paid")), charged)
	for _, a := range []response{b.get(t, path), b.do(t, "DELETE", path, "")} {
		if a.status != 404 {
			t.Errorf("after it is gone: got %d %s", a.status, a.body)
		}
	}
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	if got := b.number(t, "SELECT COUNT(*) FROM payment_methods WHERE number IS NOT NULL"); got != 0 {
		t.Error("the number outlived the payment method")
	}
	if got, want := b.events(t, numberOf(t, id.PaymentMethod, m.ID)), []string{"payment_method.attached 1", "payment_method.detached 3"}; !slices.Equal(got, want) {
		t.Errorf("events: got %v, want %v", got, want)
	}
}

func TestPaymentMethodOfABankAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := b.MustAttach(t, b.MustCustomer(t, "{}").ID, `{"bank_account":{`+accountFields+`}}`)
	if m.Kind != v1.StoredKindBankAccount || m.BankAccount == nil || m.BankAccount.Last4 != "6789" {
		t.Fatalf("got %+v", m)
	}
	txn := MustDecode[v1.Transaction](t, b.pay(t, m.ID, ""), 201)
	if txn.BankAccount == nil || txn.BankAccount.Holder != "A. Payer" {
		t.Errorf("got %+v", txn)
	}
}

func TestPaymentMethodList(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer, other := b.MustCustomer(t, "{}").ID, b.MustCustomer(t, "{}").ID
	b.MustAttach(t, other, visa)
	list := "/v1/customers/" + customer + "/payment_methods?"
	var all, same []string
	var fingerprint string
	for i := range 8 {
		body := visa
		if i%4 == 3 {
			body = strings.Replace(visa, "4242424242424242", "5555555555554444", 1)
		}
		m := b.MustAttach(t, customer, body)
		all = slices.Insert(all, 0, m.ID)
		if i%4 != 3 {
			same, fingerprint = slices.Insert(same, 0, m.ID), m.Card.Fingerprint
		}
	}
	b.walk(t, list, all)
	b.walk(t, list+"fingerprint="+fingerprint+"&", same)
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer+"/payment_methods/"+all[3], ""), 200)
	b.walk(t, list, slices.Delete(slices.Clone(all), 3, 4))
	wantRefusal(t, b.get(t, list+"color=red"), invalid("unknown_parameter", "color"))
}

// TestPaymentMethodOfAnotherCustomer: a payment method must be the payer's, for every kind of key.
func TestPaymentMethodOfAnotherCustomer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one, two := b.MustCustomer(t, "{}").ID, b.MustCustomer(t, "{}").ID
	m := b.MustAttach(t, one, visa).ID
	of := func(customer string) string { return `,"customer":"` + customer + `"` }
	before := b.rows(t)
	wantRefusal(t, b.pay(t, m, of(two), keyed("k")), invalid("invalid_value", "payment_method"))
	for _, nobody := range []string{"cus_0000000000001", "x", m} {
		wantRefusal(t, b.pay(t, m, of(nobody), keyed("k")), invalid("unknown_customer", "customer"))
		wantRefusal(t, b.pay(t, "pm_card_visa", of(nobody), keyed("k")), invalid("unknown_customer", "customer"))
	}
	other := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: coretest.MustCreateMerchant(t, b.core.Admin()), Mode: "test", Kind: "secret"}))
	live := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"}))
	for _, key := range []option{other, live} {
		wantRefusal(t, b.pay(t, m, "", key), invalid("unknown_payment_method", "payment_method"))
		for _, path := range []string{"/v1/customers/" + one, "/v1/customers/" + one + "/payment_methods"} {
			wantRefusal(t, b.get(t, path, key), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
		}
		if a := b.get(t, "/v1/customers/"+one+"/payment_methods/"+m, key); a.status != 404 {
			t.Errorf("got %d %s", a.status, a.body)
		}
	}
	if a := b.get(t, "/v1/customers/"+two+"/payment_methods/"+m); a.status != 404 {
		t.Errorf("under another customer: got %d %s", a.status, a.body)
	}
	if a := b.do(t, "DELETE", "/v1/customers/"+two+"/payment_methods/"+m, ""); a.status != 404 {
		t.Errorf("detached through another customer: got %d %s", a.status, a.body)
	}
	if got, want := b.rows(t), strings.NewReplacer("merchants=1 api_keys=1", "merchants=2 api_keys=3", "events=5", "events=7").Replace(before); got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	typed := MustDecode[v1.Transaction](t, b.pay(t, "pm_card_visa", of(two)), 201)
	if typed.Customer == nil || *typed.Customer != two {
		t.Errorf("got %v", typed.Customer)
	}
	token := b.MustToken(t, visa).Value.Reveal()
	if got := MustDecode[v1.Transaction](t, b.pay(t, token, of(two)), 201); *got.Customer != two {
		t.Errorf("got %v", got.Customer)
	}
}

func TestBadAttachments(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	path := "/v1/customers/" + customer + "/payment_methods"
	token := b.MustToken(t, visa).Value.Reveal()
	m := b.MustAttach(t, customer, visa).ID
	b.wantRefused(t, path, []badInput{
		{"nothing", "{}", invalid("missing_field", "token"), nil},
		{"no token", `{"token":"card"}`, invalid("unknown_payment_method", "token"), nil},
		{"a payment method", `{"token":"` + m + `"}`, invalid("unknown_payment_method", "token"), nil},
		{"another's token", `{"token":"tok_0000000000001"}`, invalid("unknown_payment_method", "token"), nil},
		{"a card", visa, invalid("unknown_field", "card"), nil},
		{"bad billing", `{"token":"` + token + `","billing":{"phone":"` + strings.Repeat("1", 41) + `"}}`, invalid("invalid_value", "billing.phone"), nil},
		{"bad metadata", `{"token":"` + token + `","metadata":{"":""}}`, invalid("invalid_value", "metadata"), nil},
	})
	before := b.rows(t)
	for _, nobody := range []string{"cus_0000000000001", "x"} {
		wantRefusal(t, b.attach(t, nobody, token), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
	}
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	got := MustDecode[v1.PaymentMethod](t, b.post(t, path, `{"token":"`+token+`","billing":{"address":{"postal_code":"46201"}},"metadata":{"a":"b"}}`), 201)
	txn := MustDecode[v1.Transaction](t, b.pay(t, got.ID, ""), 201)
	if got.Metadata["a"] != "b" || txn.Billing == nil || *txn.Billing.Address.PostalCode != "46201" || txn.Checks.PostalCode != "no_match" {
		t.Errorf("billing of the payment method: got %+v, checks %+v", txn.Billing, txn.Checks)
	}
	own := MustDecode[v1.Transaction](t, b.pay(t, got.ID, `,"billing":{"address":{"postal_code":"98004"}}`), 201)
	if *own.Billing.Address.PostalCode != "98004" || own.Checks.PostalCode != "match" {
		t.Errorf("billing of the payment: got %+v, checks %+v", own.Billing, own.Checks)
	}
}

// TestDeleteCustomerDetaches: no payment method of a deleted customer can be charged.
func TestDeleteCustomerDetaches(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	one, two := b.MustAttach(t, customer, visa).ID, b.MustAttach(t, customer, visa).ID
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer+"/payment_methods/"+one, ""), 200)
	txn := MustDecode[v1.Transaction](t, b.pay(t, two, ""), 201).ID
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer, ""), 200)
	wantRefusal(t, b.pay(t, two, ""), invalid("unknown_payment_method", "payment_method"))
	wantRefusal(t, b.pay(t, "pm_card_visa", `,"customer":"`+customer+`"`), invalid("unknown_customer", "customer"))
	for m, detached := range map[string]string{one: "payment_method.detached 4", two: "payment_method.detached 5"} {
		if got, want := b.events(t, numberOf(t, id.PaymentMethod, m)), []string{"payment_method.attached 1", detached}; !slices.Equal(got, want) {
			t.Errorf("events: got %v, want %v", got, want)
		}
	}
	if got := b.number(t, "SELECT COUNT(*) FROM payment_methods WHERE number IS NOT NULL"); got != 0 {
		t.Errorf("%d numbers stay", got)
	}
	if got := b.transaction(t, txn); *got.Customer != customer {
		t.Errorf("the transaction forgot its customer: %v", got.Customer)
	}
}

// TestManyPaymentMethods: a customer has at most 500 payment methods.
func TestManyPaymentMethods(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	b.MustAttach(t, customer, visa)
	b.write(t, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 498)
		INSERT INTO payment_methods SELECT i, merchant_id, live, customer_id, kind, fingerprint, details, vault_key, number, created_at, 0,
			api_key_id, client_address
		FROM payment_methods, n WHERE id > 1000`)
	b.MustAttach(t, customer, visa)
	token := b.MustToken(t, visa).Value.Reveal()
	wantRefusal(t, b.attach(t, customer, token), refusal{409, v1.ErrorTypeInvalidRequestError, "too_many_payment_methods", "id"})
	if MustDecode[v1.Token](t, b.get(t, "/v1/tokens/"+tokenID(token)), 200).Used {
		t.Error("the refused attachment used the token")
	}
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer, ""), 200)
	if got := b.number(t, "SELECT COUNT(*) FROM events WHERE type = 'payment_method.detached'"); got != 500 {
		t.Errorf("got %d detached, want 500", got)
	}
}

// TestDetachAgainstPay: a payment by a payment method that is detached at the same time is made or
// refused as a whole.
func TestDetachAgainstPay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	for range rounds {
		m := b.MustAttach(t, customer, visa).ID
		done := make(chan response, 1)
		go func() {
			a, err := b.try(t, "DELETE", "/v1/customers/"+customer+"/payment_methods/"+m, "")
			if err != nil {
				t.Error(err)
			}
			done <- a
		}()
		paid := b.pay(t, m, "")
		if gone := <-done; gone.status != 200 {
			t.Fatalf("detach: got %d %s", gone.status, gone.body)
		}
		if paid.status != 201 {
			wantRefusal(t, paid, invalid("unknown_payment_method", "payment_method"))
		}
	}
	if got := b.number(t, "SELECT COUNT(*) FROM transactions WHERE status <> 'captured'"); got != 0 {
		t.Errorf("%d payments are not whole", got)
	}
}
