package api_test

import (
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	partially = `,"partial_authorization":"if_available"`
	// lastFunds is the address of a card that has 123 left, and nothing after that.
	lastFunds = `,"billing":{"address":{"postal_code":"46228"}}`
)

// inCurrency returns a create of an amount in a currency, by a card with 123 left.
func inCurrency(amount, currency, more string) string {
	return `{"amount":` + amount + `,"currency":"` + currency + `","payment_method":"pm_card_visa"` + lastFunds + more + `}`
}

func TestPartialApproval(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct{ asked, approved int64 }{{1, 1}, {122, 122}, {123, 123}, {124, 123}, {5000, 123}} {
		taken := b.MustCreate(t, c.asked, lastFunds+partially)
		got := b.wantTransaction(t, taken.ID, v1.TransactionStatusCaptured, amounts{c.approved, c.approved, 0, 0, c.approved})
		if got.PartialAuthorization != "if_available" || got.Amount != c.asked || got.Authorization.Balance == nil || *got.Authorization.Balance != 0 {
			t.Errorf("got %+v", got)
		}
		captures := MustDecode[v1.CaptureList](t, b.get(t, "/v1/transactions/"+taken.ID+"/captures"), 200)
		if len(captures.Data) != 1 || captures.Data[0].Amount != c.approved {
			t.Errorf("captures: got %+v, want one of %d", captures.Data, c.approved)
		}
		held := b.MustCreate(t, c.asked, manual+lastFunds+partially)
		b.wantTransaction(t, held.ID, v1.TransactionStatusAuthorized, amounts{c.approved, 0, 0, c.approved, 0})
	}
	held := b.MustCreate(t, 5000, manual+lastFunds+partially).ID
	wantRefusal(t, b.capture(t, held, `{"amount":124}`), tooMuch("amount_exceeds_capturable"))
	if got := MustDecode[v1.Capture](t, b.capture(t, held, ""), 201); got.Amount != 123 {
		t.Errorf("capture of the rest: got %d, want 123", got.Amount)
	}
	wantRefusal(t, b.refund(t, held, `,"amount":124`), tooMuch("amount_exceeds_refundable"))
	MustDecode[v1.Refund](t, b.refund(t, held, ""), 201)
	b.wantTransaction(t, held, v1.TransactionStatusCaptured, amounts{123, 123, 123, 0, 0})
	listed := MustDecode[v1.TransactionList](t, b.get(t, "/v1/transactions?amount=5000&limit=1"), 200)
	if len(listed.Data) != 1 || listed.Data[0].ID != held || listed.Data[0].AmountAuthorized != 123 {
		t.Errorf("listed: got %+v", listed.Data)
	}
	if got := b.text(t, "SELECT data ->> '$.amount_authorized' FROM events WHERE type = 'transaction.authorized' ORDER BY id DESC LIMIT 1"); got != "123" {
		t.Errorf("event: got %s, want 123", got)
	}
}

// TestNoPartialApproval: a merchant that did not allow a partial approval gets none, in currencies
// with and without decimals.
func TestNoPartialApproval(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, leave := range []string{"", `,"partial_authorization":"never"`} {
		for _, currency := range []string{"usd", "jpy", "kwd"} {
			got := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", inCurrency("123", currency, leave)), 201)
			if got.AmountCaptured != 123 || got.PartialAuthorization != "never" {
				t.Errorf("%s: got %+v", currency, got)
			}
			e := wantRefusal(t, b.post(t, "/v1/transactions", inCurrency("124", currency, leave)), refusal{402, v1.ErrorTypeCardError, "card_declined", ""})
			if *e.DeclineCode != v1.DeclineCodeInsufficientFunds {
				t.Errorf("got %s", *e.DeclineCode)
			}
			b.wantTransaction(t, e.Transaction.ID, v1.TransactionStatusDeclined, amounts{})
		}
	}
}

func TestPartialApprovalOfAConfirmation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := b.MustPrepare(t, partially)
	got := MustDecode[v1.Transaction](t, b.confirm(t, u.id, u.proven(`,"payment_method":"pm_card_visa"`+lastFunds), b.publishable(t)), 200)
	if got.AmountAuthorized != 123 || got.Amount != 500 || got.PartialAuthorization != "if_available" {
		t.Errorf("the payer sees %+v", got)
	}
	b.wantTransaction(t, u.id, v1.TransactionStatusCaptured, amounts{123, 123, 0, 0, 123})
	u = b.MustPrepare(t, "")
	wantRefusal(t, b.confirm(t, u.id, `{"payment_method":"pm_card_visa"`+lastFunds+`}`), refusal{402, v1.ErrorTypeCardError, "card_declined", ""})
}

func TestPrepaidBalance(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for postal, want := range map[string]int64{"46226": 123, "46227": -123} {
		got := b.MustCreate(t, 500, `,"billing":{"address":{"postal_code":"`+postal+`"}}`)
		if got.AmountCaptured != 500 || got.Authorization.Balance == nil || *got.Authorization.Balance != want {
			t.Errorf("%s: got %+v", postal, got.Authorization)
		}
		if read := b.transaction(t, got.ID); *read.Authorization.Balance != want {
			t.Errorf("%s, read back: got %+v", postal, read.Authorization)
		}
	}
	if got := b.MustCreate(t, 500, ""); got.Authorization.Balance != nil {
		t.Errorf("got %+v, want no balance", got.Authorization)
	}
}

func TestPartialAuthorizationThatIsNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const param = "partial_authorization"
	b.wantRefused(t, "/v1/transactions", []badInput{
		{"unknown", create(500, `,"partial_authorization":"always"`), invalid("invalid_value", param), nil},
		{"empty", create(500, `,"partial_authorization":""`), invalid("invalid_value", param), nil},
		{"boolean", create(500, `,"partial_authorization":true`), invalid("invalid_type", param), nil},
		{"null", create(500, `,"partial_authorization":null`), invalid("invalid_type", param), nil},
	})
}
