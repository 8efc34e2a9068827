package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// by returns the body of a confirmation by a payment method that is named.
func by(method string) string { return `{"payment_method":"` + method + `"}` }

func TestConfirmByToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token := b.MustToken(t, visa).Value.Reveal()
	for _, early := range []string{token, tokenID(token)} { // the service would have to store the value until the confirmation
		wantRefusal(t, b.post(t, "/v1/transactions", waiting(`,"payment_method":"`+early+`"`)), invalid("invalid_value", "payment_method"))
	}
	named := b.MustPrepare(t, "")
	first := b.confirm(t, named.id, by(token), keyed("k"))
	got := MustDecode[v1.Transaction](t, first, 200)
	if got.PaymentMethod != tokenID(token) || got.Card.Last4 != "4242" || got.Checks.Cvc != "match" {
		t.Errorf("got %+v", got)
	}
	if MustDecode[v1.Token](t, b.get(t, "/v1/tokens/"+tokenID(token)), 200).Used != true {
		t.Error("the token is not used")
	}
	wantReplay(t, b.confirm(t, named.id, by(token), keyed("k")), first)
	u := b.MustPrepare(t, "")
	before := b.rows(t)
	wantRefusal(t, b.confirm(t, u.id, by(token)), invalid("token_used", "payment_method"))
	wantRefusal(t, b.confirm(t, u.id, by(id.Format(id.Token, 12345))), invalid("unknown_payment_method", "payment_method"))
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	late := b.MustToken(t, visa).Value.Reveal()
	b.clock.Advance(time.Hour)
	wantRefusal(t, b.confirm(t, u.id, by(late)), invalid("token_expired", "payment_method"))
	b.wantTransaction(t, u.id, v1.TransactionStatusRequiresConfirmation, amounts{})
}

// TestConfirmTokenReturns: the acquirer is unavailable, so the transaction waits, and the token
// with its code can be used again.
func TestConfirmTokenReturns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	token := b.MustToken(t, strings.Replace(visa, "4242424242424242", "4000000000000101", 1)).Value.Reveal()
	u := b.MustPrepare(t, "")
	for range 2 {
		wantRefusal(t, b.confirm(t, u.id, u.proven(`,"payment_method":"`+token+`"`), pk, keyed("k")), refusal{503, v1.ErrorTypeAPIError, "acquirer_unavailable", ""})
		if got := b.wantTransaction(t, u.id, v1.TransactionStatusRequiresConfirmation, amounts{}); got.Card != nil || got.PaymentMethod != "" {
			t.Errorf("got %+v, want it to wait as before", got)
		}
		if MustDecode[v1.Token](t, b.get(t, "/v1/tokens/"+tokenID(token)), 200).Used {
			t.Fatal("the token stays used")
		}
		if got := b.number(t, "SELECT COUNT(*) FROM security_codes"); got != 1 {
			t.Fatal("the security code did not come back")
		}
	}
	MustDecode[v1.Transaction](t, b.confirm(t, u.id, u.proven(`,"payment_method":"card","card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}`), pk, keyed("l")), 200)
	b.wantTransaction(t, u.id, v1.TransactionStatusCaptured, amounts{500, 500, 0, 0, 500})
}

func TestConfirmByPaymentMethod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	ours, theirs := b.MustCustomer(t, "{}").ID, b.MustCustomer(t, "{}").ID
	mine, other := b.MustAttach(t, ours, visa).ID, b.MustAttach(t, theirs, visa).ID
	anothers := invalid("invalid_value", "payment_method")

	owned := b.MustPrepare(t, `,"customer":"`+ours+`"`)
	wantRefusal(t, b.confirm(t, owned.id, by(other)), anothers)
	wantRefusal(t, b.confirm(t, owned.id, owned.proven(`,"payment_method":"`+other+`"`), pk), anothers)
	got := MustDecode[v1.Transaction](t, b.confirm(t, owned.id, owned.proven(`,"payment_method":"`+mine+`"`), pk), 200)
	if got.PaymentMethod != mine || got.Customer != nil {
		t.Errorf("the payer's view: got %+v", got)
	}
	if got := b.transaction(t, owned.id); *got.Customer != ours {
		t.Errorf("customer: got %s, want %s", *got.Customer, ours)
	}

	// The payment belongs to the owner of the default payment method.
	named := b.MustPrepare(t, `,"payment_method":"`+mine+`"`)
	wantRefusal(t, b.confirm(t, named.id, by(other)), anothers)
	MustDecode[v1.Transaction](t, b.confirm(t, named.id, named.proven(""), pk), 200)

	// Without a customer, the merchant's server may name a payment method, but a payer's device may
	// not.
	open := b.MustPrepare(t, "")
	wantRefusal(t, b.confirm(t, open.id, open.proven(`,"payment_method":"`+mine+`"`), pk), anothers)
	got = MustDecode[v1.Transaction](t, b.confirm(t, open.id, by(mine)), 200)
	if *got.Customer != ours {
		t.Errorf("customer: got %s, want %s", *got.Customer, ours)
	}

	before := b.rows(t)
	wantRefusal(t, b.post(t, "/v1/transactions", waiting(`,"payment_method":"`+mine+`","customer":"`+theirs+`"`)), anothers)
	for _, nobody := range []string{"x", "cus_0000000000001"} {
		wantRefusal(t, b.post(t, "/v1/transactions", waiting(`,"customer":"`+nobody+`"`)), invalid("unknown_customer", "customer"))
	}
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	detached := b.MustPrepare(t, `,"payment_method":"`+mine+`"`)
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+ours+"/payment_methods/"+mine, ""), 200)
	wantRefusal(t, b.confirm(t, detached.id, ""), invalid("unknown_payment_method", "payment_method"))
	MustDecode[v1.Transaction](t, b.confirm(t, detached.id, by("pm_card_visa")), 200)
}
