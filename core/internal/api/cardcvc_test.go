package api_test

import (
	"bytes"
	"fmt"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// typedAgain returns the security code of a stored card.
func typedAgain(code string) string { return `,"card_cvc":"` + code + `"` }

func TestCVCOfAStoredCard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	m := b.MustAttach(t, customer, visa).ID
	for _, method := range []string{m, "pm_card_visa"} {
		for code, want := range map[string]v1.CheckResult{"900": v1.CheckResultMatch, "904": v1.CheckResultNotProcessed, "123": v1.CheckResultNotProcessed} {
			got := MustDecode[v1.Transaction](t, b.pay(t, method, typedAgain(code)), 201)
			if got.Checks.Cvc != want {
				t.Errorf("%s, %s: got %s, want %s", method, code, got.Checks.Cvc, want)
			}
		}
		e := wantRefusal(t, b.pay(t, method, typedAgain("901")), refusal{402, v1.ErrorTypeCardError, "card_declined", ""})
		if *e.DeclineCode != v1.DeclineCodeIncorrectCvc || e.Transaction.Checks.Cvc != v1.CheckResultNoMatch {
			t.Errorf("%s: got %+v", method, e)
		}
		if got := MustDecode[v1.Transaction](t, b.pay(t, method, ""), 201); got.Checks.Cvc != v1.CheckResultNotProvided {
			t.Errorf("%s, without it: got %s, so one was stored", method, got.Checks.Cvc)
		}
	}
	amex := b.MustAttach(t, customer, `{"card":{"number":"378282246310005","exp_month":12,"exp_year":2030}}`).ID
	MustDecode[v1.Transaction](t, b.pay(t, amex, typedAgain("1234")), 201)
	first := b.pay(t, m, typedAgain("900"), keyed("k"))
	MustDecode[v1.Transaction](t, first, 201)
	wantReplay(t, b.pay(t, m, typedAgain("900"), keyed("k")), first)
	wantReplay(t, b.pay(t, m, typedAgain("901"), keyed("k")), first) // nothing is stored that distinguishes the codes
}

// TestCVCOfAConfirmation: the payer types the security code on their own device.
func TestCVCOfAConfirmation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	m := b.MustAttach(t, customer, visa).ID
	u := b.MustPrepare(t, `,"customer":"`+customer+`","payment_method":"`+m+`"`)
	MustDecode[v1.Transaction](t, b.confirm(t, u.id, u.proven(typedAgain("900")), b.publishable(t)), 200)
	if got := b.transaction(t, u.id).Checks.Cvc; got != v1.CheckResultMatch {
		t.Errorf("got %s, want match", got)
	}
}

func TestCVCThatDoesNotGo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	m := b.MustAttach(t, customer, visa).ID
	amex := b.MustAttach(t, customer, `{"card":{"number":"378282246310005","exp_month":12,"exp_year":2030}}`).ID
	account := b.MustAttach(t, customer, `{"bank_account":{`+accountFields+`}}`).ID
	token := b.MustToken(t, visa).Value.Reveal()
	const param = "card_cvc"
	b.wantRefused(t, "/v1/transactions", []badInput{
		{"two digits", create1(m, typedAgain("12")), invalid("invalid_cvc", param), nil},
		{"four for three", create1(m, typedAgain("1234")), invalid("invalid_cvc", param), nil},
		{"three for four", create1(amex, typedAgain("123")), invalid("invalid_cvc", param), nil},
		{"letters", create1(m, typedAgain("12a")), invalid("invalid_cvc", param), nil},
		{"empty", create1(m, typedAgain("")), invalid("invalid_cvc", param), nil},
		{"null", create1(m, `,"card_cvc":null`), invalid("invalid_type", param), nil},
		{"number", create1(m, `,"card_cvc":123`), invalid("invalid_type", param), nil},
		{"bank account", create1(account, typedAgain("123")), invalid("invalid_value", param), nil},
		{"typed account", paying("bank_account", accountFields, typedAgain("123")), invalid("invalid_value", param), nil},
		{"network token", paying("network_token", tokenFields, typedAgain("123")), invalid("invalid_value", param), nil},
		{"token", create1(token, typedAgain("123")), invalid("invalid_value", param), nil},
		{"typed card", typed("4111111111111111", "", typedAgain("123")), invalid("invalid_value", param), nil},
		{"the test card", create1("card", typedAgain("123")), invalid("invalid_value", param), nil},
		{"before the confirmation", create1(m, typedAgain("123")+`,"confirm":false`), invalid("invalid_value", param), nil},
	})
}

// TestFieldsOfADetachedMethod: a detached payment method is unknown, also with fields that only
// cards take. Detaching erases its details.
func TestFieldsOfADetachedMethod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	m := b.MustAttach(t, customer, visa).ID
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer+"/payment_methods/"+m, ""), 200)
	for _, field := range []string{"", typedAgain("123"), `,"prior_authorization":{"code":"A1B2C3"}`} {
		wantRefusal(t, b.pay(t, m, field), invalid("unknown_payment_method", "payment_method"))
	}
}

// TestCVCOfAStoredCardIsNowhere sends codes in every request that accepts one. No file, log or
// response contains one.
func TestCVCOfAStoredCardIsNowhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var responses bytes.Buffer
	customer := b.MustCustomer(t, "{}").ID
	numbers, codes := cards(8)
	for i, number := range numbers {
		m := b.MustAttach(t, customer, `{"card":{"number":"`+number+`","exp_month":12,"exp_year":2030}}`).ID
		u := b.MustPrepare(t, `,"customer":"`+customer+`"`)
		typed := typedAgain(codes[i])
		for j, rest := range []string{"", manual, `,"nonsense":1`, `,"amount":"x"`, "}", `,"customer":"cus_none"`} {
			a := b.pay(t, m, typed+rest, keyed(fmt.Sprint(i, j)))
			fmt.Fprintln(&responses, a.header, string(a.body))
		}
		for _, rest := range []string{`,"payment_method":"card"`, `,"payment_method":"` + m + `"`} {
			a := b.confirm(t, u.id, u.proven(typed+rest))
			fmt.Fprintln(&responses, a.header, string(a.body))
		}
	}
	places := b.database.Files(t, b.dir)
	places["the responses"], places["the log"] = responses.Bytes(), []byte(b.logs.String())
	wantNoCards(t, places, numbers, codes)
}
