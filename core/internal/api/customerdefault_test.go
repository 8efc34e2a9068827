package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// byCustomer returns a create that names a customer but no payment method.
func byCustomer(customer, more string) string {
	return `{"amount":500,"currency":"usd","customer":"` + customer + `"` + more + `}`
}

// setDefault changes the default payment method of a customer.
func (b *bundle) setDefault(t *testing.T, customer, method string) response {
	t.Helper()
	return b.do(t, "PATCH", "/v1/customers/"+customer, `{"default_payment_method":"`+method+`"}`)
}

func (b *bundle) detach(t *testing.T, customer, method string) {
	t.Helper()
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer+"/payment_methods/"+method, ""), 200)
}

func TestDefaultPaymentMethod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, ann).ID
	none := invalid("missing_field", "payment_method")
	wantRefusal(t, b.post(t, "/v1/transactions", byCustomer(customer, "")), none)
	m, other := b.MustAttach(t, customer, visa).ID, b.MustAttach(t, customer, `{"card":{"number":"5555555555554444","exp_month":12,"exp_year":2030}}`).ID
	got := MustDecode[v1.Customer](t, b.setDefault(t, customer, m), 200)
	if got.DefaultPaymentMethod == nil || *got.DefaultPaymentMethod != m || got.Version != 4 || *got.FirstName != "Ann" {
		t.Errorf("got %+v", got)
	}
	wantSameJSON(t, MustDecode[v1.Customer](t, b.get(t, "/v1/customers/"+customer), 200), got)
	if same := MustDecode[v1.Customer](t, b.setDefault(t, customer, m), 200); same.Version != 4 {
		t.Errorf("the same again: got version %d, want 4", same.Version)
	}
	paid := b.post(t, "/v1/transactions", byCustomer(customer, typedAgain("900")), keyed("k"))
	txn := MustDecode[v1.Transaction](t, paid, 201)
	if txn.PaymentMethod != m || *txn.Customer != customer || txn.Card.Last4 != "4242" || txn.Checks.Cvc != v1.CheckResultMatch {
		t.Errorf("got %+v", txn)
	}
	if named := MustDecode[v1.Transaction](t, b.pay(t, other, `,"customer":"`+customer+`"`), 201); named.PaymentMethod != other {
		t.Errorf("got %s, want what was named", named.PaymentMethod)
	}
	MustDecode[v1.Customer](t, b.setDefault(t, customer, other), 200)
	b.detach(t, customer, m)
	if got := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", byCustomer(customer, "")), 201); got.PaymentMethod != other {
		t.Errorf("got %s, want the new default", got.PaymentMethod)
	}
	b.detach(t, customer, other)
	if got := MustDecode[v1.Customer](t, b.get(t, "/v1/customers/"+customer), 200); got.DefaultPaymentMethod != nil || got.Version != 7 {
		t.Errorf("after it is gone: got %+v", got)
	}
	want := []string{"customer.created 1"}
	for version := 2; version <= 7; version++ { // two attachments, two defaults, two detachments
		want = append(want, fmt.Sprint("customer.updated ", version))
	}
	if got := b.events(t, numberOf(t, id.Customer, customer)); !slices.Equal(got, want) {
		t.Errorf("events: got %v, want %v", got, want)
	}
	before := b.effects(t)
	wantRefusal(t, b.post(t, "/v1/transactions", byCustomer(customer, "")), none)
	wantRefusal(t, b.post(t, "/v1/transactions", byCustomer(customer, typedAgain("900")), keyed("l")), none)
	if after := b.effects(t); after != before {
		t.Errorf("a refusal left something: %s, before %s", after, before)
	}
	wantReplay(t, b.post(t, "/v1/transactions", byCustomer(customer, typedAgain("900")), keyed("k")), paid)
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer, ""), 200)
	wantRefusal(t, b.post(t, "/v1/transactions", byCustomer(customer, "")), invalid("unknown_customer", "customer"))
	wantReplay(t, b.post(t, "/v1/transactions", byCustomer(customer, typedAgain("900")), keyed("k")), paid)
}

func TestDefaultPaymentMethodTakenAway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	m := b.MustAttach(t, customer, visa).ID
	MustDecode[v1.Customer](t, b.setDefault(t, customer, m), 200)
	if got := MustDecode[v1.Customer](t, b.do(t, "PATCH", "/v1/customers/"+customer, `{"phone":"1"}`), 200); *got.DefaultPaymentMethod != m {
		t.Errorf("another change took it: %+v", got)
	}
	if got := MustDecode[v1.Customer](t, b.setDefault(t, customer, ""), 200); got.DefaultPaymentMethod != nil {
		t.Errorf("got %+v", got)
	}
	MustDecode[v1.Customer](t, b.setDefault(t, customer, m), 200)
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer, ""), 200)
	events := b.events(t, numberOf(t, id.Customer, customer))
	if last := events[len(events)-1]; !strings.HasPrefix(last, "customer.deleted ") {
		t.Errorf("got %v", events)
	}
	if got := b.text(t, "SELECT COALESCE(data ->> '$.default_payment_method', 'none') FROM events WHERE type = 'customer.deleted'"); got != "none" {
		t.Errorf("the deleted customer shows %s", got)
	}
}

// TestDefaultPaymentMethodOfAConfirmation: the default at the time of the confirmation counts, not
// the default at the creation.
func TestDefaultPaymentMethodOfAConfirmation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	u, late := b.MustPrepare(t, `,"customer":"`+customer+`"`), b.MustPrepare(t, "")
	wantRefusal(t, b.confirm(t, u.id, u.proven(""), b.publishable(t)), invalid("missing_field", "payment_method"))
	m := b.MustAttach(t, customer, visa).ID
	MustDecode[v1.Customer](t, b.setDefault(t, customer, m), 200)
	if got := MustDecode[v1.Transaction](t, b.confirm(t, u.id, u.proven(""), b.publishable(t)), 200); got.PaymentMethod != m {
		t.Errorf("got %+v", got)
	}
	wantRefusal(t, b.confirm(t, late.id, "{}"), invalid("missing_field", "payment_method"))
}

func TestDefaultPaymentMethodOfABankAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	m := b.MustAttach(t, customer, `{"bank_account":{`+accountFields+`}}`).ID
	MustDecode[v1.Customer](t, b.setDefault(t, customer, m), 200)
	wantRefusal(t, b.post(t, "/v1/transactions", byCustomer(customer, manual)), invalid("invalid_value", "capture"))
	if got := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", byCustomer(customer, "")), 201); got.BankAccount == nil {
		t.Errorf("got %+v", got)
	}
}

func TestBadDefaultPaymentMethods(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer, other := b.MustCustomer(t, "{}").ID, b.MustCustomer(t, "{}").ID
	gone, foreign := b.MustAttach(t, customer, visa).ID, b.MustAttach(t, other, visa).ID
	b.detach(t, customer, gone)
	stranger := coretest.MustCreateMerchant(t, b.core.Admin())
	key := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: stranger, Mode: "test", Kind: "secret"}))
	theirs := MustDecode[v1.Customer](t, b.post(t, "/v1/customers", "{}", key), 201).ID
	const param = "default_payment_method"
	unknown := invalid("unknown_payment_method", param)
	before := b.rows(t)
	for _, method := range []string{gone, foreign, "pm_card_visa", "card", "pm_0000000000001", customer} {
		wantRefusal(t, b.setDefault(t, customer, method), unknown)
	}
	wantRefusal(t, b.do(t, "PATCH", "/v1/customers/"+theirs, `{"default_payment_method":"`+foreign+`"}`, key), unknown)
	wantRefusal(t, b.setDefault(t, customer, strings.Repeat("x", 65)), invalid("invalid_value", param))
	wantRefusal(t, b.do(t, "PATCH", "/v1/customers/"+customer, `{"default_payment_method":null}`), invalid("invalid_type", param))
	wantRefusal(t, b.post(t, "/v1/customers", `{"default_payment_method":"`+foreign+`"}`), unknown)
	if after := b.rows(t); after != before {
		t.Errorf("a refusal left something: %s, before %s", after, before)
	}
	b.wantRefused(t, "/v1/transactions", []badInput{
		{"nobody", `{"amount":500,"currency":"usd"}`, invalid("missing_field", "payment_method"), nil},
		{"no such customer", byCustomer("cus_0000000000001", ""), invalid("unknown_customer", "customer"), nil},
		{"no id", byCustomer("ann", ""), invalid("unknown_customer", "customer"), nil},
		{"somebody else's", byCustomer(theirs, ""), invalid("unknown_customer", "customer"), nil},
		{"a card without its kind", byCustomer(customer, `,"card":{"number":"4111111111111111","exp_month":12,"exp_year":2030}`), invalid("invalid_value", "card"), nil},
	})
}

// TestDefaultAgainstDetach: in either order, no customer keeps a detached payment method as its
// default.
func TestDefaultAgainstDetach(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	for range 20 {
		m := b.MustAttach(t, customer, visa).ID
		set := make(chan response, 1)
		go func() {
			a, err := b.try(t, "PATCH", "/v1/customers/"+customer, `{"default_payment_method":"`+m+`"}`)
			if err != nil {
				t.Error(err)
			}
			set <- a
		}()
		b.detach(t, customer, m)
		if a := <-set; a.status != 200 && a.status != 400 {
			t.Errorf("got %d %s", a.status, a.body)
		}
		if got := MustDecode[v1.Customer](t, b.get(t, "/v1/customers/"+customer), 200); got.DefaultPaymentMethod != nil {
			t.Fatalf("got %+v", got)
		}
	}
}
