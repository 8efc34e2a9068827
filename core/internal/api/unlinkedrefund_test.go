package api_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// giving returns the body of an unlinked refund.
func giving(amount int64, currency, method, more string) string {
	return fmt.Sprintf(`{"amount":%d,"currency":"%s","payment_method":"%s"%s}`, amount, currency, method, more)
}

// setupGiving returns a bundle whose merchant may make unlinked refunds.
func setupGiving(t *testing.T) *bundle {
	t.Helper()
	b := setup(t)
	b.MustAllow(t, true)
	return b
}

func (b *bundle) MustAllow(t *testing.T, allowed bool) {
	t.Helper()
	if err := b.core.Admin().SetUnlinkedRefunds(t.Context(), b.merchant, allowed); err != nil {
		t.Fatal(err)
	}
}

const payeeCard = `,"card":{"number":"5555555555554444","exp_month":12,"exp_year":2030,"cvc":"900","holder":"A. Payee"}`

func TestUnlinkedRefund(t *testing.T) {
	t.Parallel()
	b := setupGiving(t)
	customer := b.MustCustomer(t, "{}").ID
	stored, token := b.MustAttach(t, customer, visa).ID, b.MustToken(t, visa).Value.Reveal()
	for _, c := range []struct{ name, body, last4, account string }{
		{"a typed card", giving(500, "usd", "card", payeeCard+`,"reason":"goodwill","reference":"r-1","metadata":{"a":"b"}`), "4444", ""},
		{"a stored card", giving(1, "jpy", stored, ""), "4242", ""},
		{"a token", giving(1001, "kwd", token, ""), "4242", ""},
		{"a test card", giving(999999999999, "usd", "pm_card_visa", ""), "4242", ""},
		{"a bank account", giving(50000, "usd", "bank_account", `,"bank_account":{`+accountFields+`}`), "", "6789"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := b.post(t, "/v1/refunds", c.body, keyed(c.name))
			got := MustDecode[v1.Refund](t, a, 201)
			if got.Status != v1.RefundStatusSucceeded || got.Transaction != "" || got.Capture != nil || got.PaymentMethod == nil {
				t.Errorf("got %+v", got)
			}
			if c.last4 != "" && (got.Card == nil || got.Card.Last4 != c.last4) || c.account != "" && (got.BankAccount == nil || got.BankAccount.Last4 != c.account) {
				t.Errorf("got %+v, %+v", got.Card, got.BankAccount)
			}
			wantSameJSON(t, MustDecode[v1.Refund](t, b.get(t, "/v1/refunds/"+got.ID), 200), got)
			wantReplay(t, b.post(t, "/v1/refunds", c.body, keyed(c.name)), a)
			if events, want := b.events(t, numberOf(t, id.Refund, got.ID)), []string{"refund.created 1", "refund.succeeded 2"}; !slices.Equal(events, want) {
				t.Errorf("events: got %v, want %v", events, want)
			}
		})
	}
	all := MustDecode[v1.RefundList](t, b.get(t, "/v1/refunds"), 200).Data
	if len(all) != 5 || *all[4].Reason != "goodwill" || *all[4].Reference != "r-1" || all[4].Metadata["a"] != "b" || *all[4].Card.Holder != "A. Payee" {
		t.Errorf("got %+v", all)
	}
	wantRefusal(t, b.post(t, "/v1/refunds", giving(500, "usd", token, "")), invalid("token_used", "payment_method"))
	txn := b.MustCreate(t, 500, "").ID
	if got := MustDecode[v1.Refund](t, b.refund(t, txn, ""), 201); got.Transaction != txn || got.PaymentMethod != nil || got.Card != nil {
		t.Errorf("of a transaction: got %+v", got)
	}
	if got := MustDecode[v1.RefundList](t, b.get(t, "/v1/refunds?transaction="+txn), 200).Data; len(got) != 1 {
		t.Errorf("of one transaction: got %+v", got)
	}
}

func TestUnlinkedRefundThatIsDeclined(t *testing.T) {
	t.Parallel()
	b := setupGiving(t)
	declined := refusal{402, v1.ErrorTypeCardError, "acquirer_declined", ""}
	first := b.post(t, "/v1/refunds", giving(500, "usd", "pm_card_lost", ""), keyed("k"))
	if e := wantRefusal(t, first, declined); e.Transaction != nil {
		t.Errorf("got %+v", e)
	}
	wantReplay(t, b.post(t, "/v1/refunds", giving(500, "usd", "pm_card_lost", ""), keyed("k")), first)
	wantRefusal(t, b.post(t, "/v1/refunds", giving(131313, "usd", "pm_card_visa", "")), declined)
	for _, f := range MustDecode[v1.RefundList](t, b.get(t, "/v1/refunds"), 200).Data {
		if f.Status != v1.RefundStatusFailed || f.Failure == nil || f.Failure.Code != "acquirer_declined" {
			t.Errorf("got %+v", f)
		}
		if got, want := b.events(t, numberOf(t, id.Refund, f.ID)), []string{"refund.created 1", "refund.failed 2"}; !slices.Equal(got, want) {
			t.Errorf("events: got %v, want %v", got, want)
		}
	}
}

func TestUnlinkedRefundsAreAllowedByTheOperator(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token := b.MustToken(t, visa).Value.Reveal()
	denied := refusal{403, v1.ErrorTypePermissionError, "unlinked_refunds_not_allowed", ""}
	before := b.effects(t)
	for _, method := range []string{token, "pm_card_visa"} {
		wantRefusal(t, b.post(t, "/v1/refunds", giving(500, "usd", method, ""), keyed("no "+method)), denied)
	}
	if after := b.effects(t); after != before {
		t.Errorf("a refusal left something: %s, before %s", after, before)
	}
	b.MustAllow(t, true)
	paid := b.post(t, "/v1/refunds", giving(500, "usd", token, ""), keyed("k"))
	MustDecode[v1.Refund](t, paid, 201)
	b.MustAllow(t, false)
	wantRefusal(t, b.post(t, "/v1/refunds", giving(500, "usd", "pm_card_visa", "")), denied)
	wantReplay(t, b.post(t, "/v1/refunds", giving(500, "usd", token, ""), keyed("k")), paid)
	txn := b.MustCreate(t, 500, "").ID
	MustDecode[v1.Refund](t, b.refund(t, txn, ""), 201)
	for _, merchant := range []string{"mer_0000000000001", "shop"} {
		if err := b.core.Admin().SetUnlinkedRefunds(t.Context(), merchant, true); err == nil {
			t.Errorf("%s: got no error", merchant)
		}
	}
}

func TestBadUnlinkedRefunds(t *testing.T) {
	t.Parallel()
	b := setupGiving(t)
	customer := b.MustCustomer(t, "{}").ID
	gone := b.MustAttach(t, customer, visa).ID
	b.detach(t, customer, gone)
	txn := b.MustCreate(t, 500, "").ID
	account := `,"bank_account":{` + accountFields + `}`
	b.wantRefused(t, "/v1/refunds", []badInput{
		{"nothing", `{}`, invalid("missing_field", "transaction"), nil},
		{"no payment method", `{"amount":500,"currency":"usd"}`, invalid("missing_field", "transaction"), nil},
		{"no amount", `{"currency":"usd","payment_method":"pm_card_visa"}`, invalid("missing_field", "amount"), nil},
		{"zero", giving(0, "usd", "pm_card_visa", ""), invalid("invalid_amount", "amount"), nil},
		{"below zero", giving(-1, "usd", "pm_card_visa", ""), invalid("invalid_amount", "amount"), nil},
		{"too much", giving(1000000000000, "usd", "pm_card_visa", ""), invalid("invalid_amount", "amount"), nil},
		{"null", `{"amount":null,"currency":"usd","payment_method":"card"}`, invalid("invalid_amount", "amount"), nil},
		{"no currency", `{"amount":500,"payment_method":"pm_card_visa"}`, invalid("missing_field", "currency"), nil},
		{"no such currency", giving(500, "USD", "pm_card_visa", ""), invalid("unknown_currency", "currency"), nil},
		{"no such method", giving(500, "usd", "pm_card_none", ""), invalid("unknown_payment_method", "payment_method"), nil},
		{"a detached one", giving(500, "usd", gone, ""), invalid("unknown_payment_method", "payment_method"), nil},
		{"a network token", giving(500, "usd", "network_token", ""), invalid("invalid_value", "payment_method"), nil},
		{"a wrong card", giving(500, "usd", "card", `,"card":{"number":"5555555555554445","exp_month":12,"exp_year":2030}`), invalid("invalid_card_number", "card.number"), nil},
		{"an account in euro", giving(500, "eur", "bank_account", account), invalid("invalid_value", "currency"), nil},
		{"both", giving(500, "usd", "card", payeeCard+account), invalid("invalid_value", "bank_account"), nil},
		{"a capture", giving(500, "usd", "pm_card_visa", `,"capture":"cap_0000000000001"`), invalid("invalid_value", "capture"), nil},
		{"of a transaction, to another card", `{"transaction":"` + txn + `","payment_method":"card"` + payeeCard + `}`, invalid("invalid_value", "payment_method"), nil},
		{"of a transaction, in a currency", `{"transaction":"` + txn + `","currency":"usd"}`, invalid("invalid_value", "currency"), nil},
	})
}

// TestUnlinkedRefundIsFoundAgain: an unlinked refund is found after its response was lost and the
// service restarted. A refund that the acquirer has not received stays pending for a day, and its
// key stays in use.
func TestUnlinkedRefundIsFoundAgain(t *testing.T) {
	t.Parallel()
	b := setupWith(t, MustHurryCatalogue(t, 20*time.Millisecond))
	b.MustAllow(t, true)
	for _, method := range []string{"pm_card_timeout_after_effect", "pm_card_timeout_before_effect"} {
		wantRefusal(t, b.post(t, "/v1/refunds", giving(500, "usd", method, ""), keyed(method)), refusal{504, v1.ErrorTypeAPIError, "outcome_unknown", ""})
	}
	wantRefusal(t, b.post(t, "/v1/refunds", giving(500, "usd", "pm_card_unavailable", "")), refusal{503, v1.ErrorTypeAPIError, "acquirer_unavailable", ""})
	b.restart(t)
	const unseen = "pm_card_timeout_before_effect"
	programtest.WaitFor(t, "looked for", func() bool { return b.number(t, "SELECT COUNT(*) FROM reversals WHERE asked = 1") == 1 })
	if got := b.number(t, "SELECT COUNT(*) FROM refunds WHERE state = 'pending'"); got != 1 {
		t.Errorf("%d refunds are pending, want one, which the acquirer has not received", got)
	}
	wantRefusal(t, b.post(t, "/v1/refunds", giving(500, "usd", unseen, ""), keyed(unseen)), refusal{409, v1.ErrorTypeIdempotencyError, "idempotency_key_in_use", ""})
	const seen = "pm_card_timeout_after_effect"
	MustDecode[v1.Refund](t, b.post(t, "/v1/refunds", giving(500, "usd", seen, ""), keyed(seen)), 201)
	for hours := 0; b.number(t, "SELECT COUNT(*) FROM reversals") > 0; hours++ {
		if hours > 48 {
			t.Fatal("the reversals do not end")
		}
		looked := b.number(t, "SELECT COALESCE(SUM(version), 0) FROM reversals")
		b.clock.Advance(time.Hour)
		programtest.WaitFor(t, "looked again", func() bool { return b.number(t, "SELECT COALESCE(SUM(version), 0) FROM reversals") != looked })
	}
	want := map[string]v1.RefundStatus{seen: "succeeded", unseen: "failed", "pm_card_unavailable": "failed"}
	for _, f := range MustDecode[v1.RefundList](t, b.get(t, "/v1/refunds"), 200).Data {
		if got := b.refunded(t, f.ID); got != want[*f.PaymentMethod] {
			t.Errorf("%s: got %s, want %s", *f.PaymentMethod, got, want[*f.PaymentMethod])
		}
	}
}

// refunded waits until a refund's outcome is known.
func (b *bundle) refunded(t *testing.T, id string) (got v1.RefundStatus) {
	t.Helper()
	programtest.WaitFor(t, "the refund has an outcome", func() bool {
		got = MustDecode[v1.Refund](t, b.get(t, "/v1/refunds/"+id), 200).Status
		return got != v1.RefundStatusPending
	})
	return got
}

// TestUnlinkedRefundsShowNothing uses card numbers in every kind of request for an unlinked refund.
// No response, file or log shows one.
func TestUnlinkedRefundsShowNothing(t *testing.T) {
	t.Parallel()
	b := setupGiving(t)
	var responses bytes.Buffer
	numbers, codes := cards(8)
	for i, number := range numbers {
		card := `,"card":{"number":"` + number + `","exp_month":12,"exp_year":2030,"cvc":"` + codes[i] + `"}`
		for j, rest := range []string{"", `,"nonsense":1`, `,"capture":"` + number + `"`, "}", `,"transaction":"` + number + `"`} {
			a := b.post(t, "/v1/refunds", giving(500, "usd", "card", card+rest), keyed(fmt.Sprint(i, j)))
			fmt.Fprintln(&responses, a.header, string(a.body))
		}
		a := b.post(t, "/v1/refunds", giving(500, "usd", number, ""))
		fmt.Fprintln(&responses, a.header, string(a.body))
	}
	if got := len(MustDecode[v1.RefundList](t, b.get(t, "/v1/refunds"), 200).Data); got != len(numbers) {
		t.Errorf("got %d refunds, want %d", got, len(numbers))
	}
	places := b.database.Files(t, b.dir)
	places["the responses"], places["the log"] = responses.Bytes(), []byte(b.logs.String())
	wantNoCards(t, places, numbers, codes)
}
