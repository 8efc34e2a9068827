package api_test

import (
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const verification = `{"amount":0,"currency":"jpy","payment_method":"pm_card_visa","capture":"manual"}`

func TestVerification(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", verification), 201)
	if got.Amount != 0 || got.Authorization == nil || got.Settlement != v1.SettlementNone {
		t.Errorf("got %+v", got)
	}
	b.wantTransaction(t, got.ID, v1.TransactionStatusAuthorized, amounts{})
	for _, body := range []string{"", `{"amount":1}`, `{"final":true}`} {
		wantRefusal(t, b.capture(t, got.ID, body), refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_capturable", ""})
	}
	wantRefusal(t, b.capture(t, got.ID, `{"amount":0}`), invalid("invalid_amount", "amount"))
	wantRefusal(t, b.refund(t, got.ID, ""), refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_refundable", ""})
	wantRefusal(t, b.post(t, "/v1/test_helpers/transactions/"+got.ID+"/settle", ""),
		refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_settleable", ""})
	MustDecode[v1.Transaction](t, b.void(t, got.ID), 200)
	b.wantTransaction(t, got.ID, v1.TransactionStatusVoided, amounts{})
	if got := b.number(t, "SELECT COUNT(*) FROM events WHERE type IN ('transaction.authorized', 'transaction.voided')"); got != 2 {
		t.Errorf("events: got %d, want 2", got)
	}
}

func TestVerificationThatIsDeclined(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.post(t, "/v1/transactions", `{"amount":0,"currency":"usd","payment_method":"pm_card_lost","capture":"manual"}`)
	e := wantRefusal(t, a, refusal{402, v1.ErrorTypeCardError, "card_declined", ""})
	b.wantTransaction(t, e.Transaction.ID, v1.TransactionStatusDeclined, amounts{})
}

func TestZeroIsNoPayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.wantRefused(t, "/v1/transactions", []badInput{
		{"automatic", `{"amount":0,"currency":"usd","payment_method":"card","capture":"automatic"}`, invalid("invalid_amount", "amount"), nil},
		{"by default", `{"amount":0,"currency":"usd","payment_method":"card"}`, invalid("invalid_amount", "amount"), nil},
		{"missing, not zero", `{"currency":"usd","payment_method":"card","capture":"manual"}`, invalid("missing_field", "amount"), nil},
		{"negative", `{"amount":-1,"currency":"usd","payment_method":"card","capture":"manual"}`, invalid("invalid_amount", "amount"), nil},
		{"null", `{"amount":null,"currency":"usd","payment_method":"card","capture":"manual"}`, invalid("invalid_amount", "amount"), nil},
	})
}
