package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestDefaultDetachedMeanwhile: a payment reads a customer's default, which is detached before the
// payment's intent. Its refusal is stored under its key: a retry must not pay, even if the customer
// has another default by then.
func TestDefaultDetachedMeanwhile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	old, other := b.MustAttach(t, customer, visa).ID, b.MustAttach(t, customer, visa).ID
	MustDecode[v1.Customer](t, b.setDefault(t, customer, old), 200)
	u := b.MustPrepare(t, `,"customer":"`+customer+`"`)
	b.write(t, fmt.Sprint("UPDATE payment_methods SET detached_at = 1, number = NULL WHERE id = ", numberOf(t, id.PaymentMethod, old)))
	pay := func() response { return b.post(t, "/v1/transactions", byCustomer(customer, ""), keyed("pay")) }
	confirm := func() response { return b.confirm(t, u.id, u.proven(""), keyed("confirm")) }
	paid, confirmed := pay(), confirm()
	for _, a := range []response{paid, confirmed} {
		wantRefusal(t, a, invalid("unknown_payment_method", "payment_method"))
	}
	MustDecode[v1.Customer](t, b.setDefault(t, customer, other), 200)
	wantReplay(t, pay(), paid)
	wantReplay(t, confirm(), confirmed)
}

// TestConfirmDuringAnotherConfirmation: a transaction has a stored card, and its confirmation by
// another card is in progress. A confirmation without a source is refused as in conflict, not as
// malformed: after a decline, the same request can pay.
func TestConfirmDuringAnotherConfirmation(t *testing.T) {
	t.Parallel()
	b := setupWith(t, MustHurryCatalogue(t, 20*time.Millisecond))
	customer := b.MustCustomer(t, "{}").ID
	u := b.MustPrepare(t, `,"payment_method":"`+b.MustAttach(t, customer, visa).ID+`"`)
	const lost = `{"payment_method":"card","card":{"number":"4000000000000085","exp_month":12,"exp_year":2030}}`
	wantRefusal(t, b.confirm(t, u.id, lost), refusal{504, v1.ErrorTypeAPIError, "outcome_unknown", ""})
	wantRefusal(t, b.confirm(t, u.id, "{}", keyed("k")), refusal{409, v1.ErrorTypeInvalidRequestError, "operation_in_progress", ""})
	b.restart(t)
	if got, want := b.resolved(t, u.id), v1.TransactionStatusFailed; got != want {
		t.Fatalf("after the lost confirmation: got %s, want %s", got, want)
	}
	wantRefusal(t, b.confirm(t, u.id, "{}", keyed("l")), refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_confirmable", ""})
}

// TestWithdrawnConfirmationLeavesNoLink: the acquirer did not receive a confirmation by a
// customer's card, and another payer pays. The payment is not in the customer's list, and its
// personal data stays when the customer is deleted.
func TestWithdrawnConfirmationLeavesNoLink(t *testing.T) {
	t.Parallel()
	b := setup(t)
	unreachable := strings.Replace(visa, "4242424242424242", "4000000000000101", 1)
	own, other := b.MustCustomer(t, "{}").ID, b.MustCustomer(t, "{}").ID
	linked, free := b.MustPrepare(t, `,"customer":"`+own+`"`), b.MustPrepare(t, "")
	for _, c := range []struct{ of, transaction string }{{own, linked.id}, {other, free.id}} {
		body := `{"payment_method":"` + b.MustAttach(t, c.of, unreachable).ID + `"}`
		wantRefusal(t, b.confirm(t, c.transaction, body), refusal{503, v1.ErrorTypeAPIError, "acquirer_unavailable", ""})
	}
	MustDecode[v1.Transaction](t, b.confirm(t, free.id, `{`+typedCard[1:]+`}`), 200)
	for customer, want := range map[string]int{own: 1, other: 0} {
		if got := len(MustDecode[v1.TransactionList](t, b.get(t, "/v1/transactions?customer="+customer), 200).Data); got != want {
			t.Errorf("transactions of %s: got %d, want %d", customer, got, want)
		}
	}
	if got := b.number(t, "SELECT COUNT(*) FROM transaction_terms WHERE kind = 1"); got != 1 {
		t.Errorf("links to customers: got %d, want that of the waiting one", got)
	}
}
