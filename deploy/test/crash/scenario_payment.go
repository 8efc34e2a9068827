package crash

import (
	"fmt"
	"net/http"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The amounts for which the simulator refuses a step, with any card.
const (
	refusedCapture = 141414
	refusedRefund  = 131313
	refusedVoid    = 151515
)

// amount returns an ordinary amount.
func (t *runner) amount() int64 { return 1000 + t.rng.Int64N(9000) }

// source returns the payment source of a request, as fields. Some are declined, and one is
// partially approved if the request allows it.
func (t *runner) source() string {
	return pick(t,
		`"payment_method":"card"`, `"payment_method":"card"`, `"payment_method":"pm_card_visa"`,
		`"payment_method":"pm_card_mastercard"`,
		`"payment_method":"card","card":{"number":"4111111111111111","exp_month":4,"exp_year":2031,"cvc":"900"},`+
			`"billing":{"address":{"line1":"Elm","postal_code":"46214"}}`,
		`"payment_method":"card","card":{"number":"5424000000000015","exp_month":4,"exp_year":2031},`+
			`"billing":{"address":{"postal_code":"46225"}}`,
		`"payment_method":"network_token","network_token":{"number":"4111111111111111","exp_month":4,"exp_year":2031,`+
			`"cryptogram":"AAAAAAAAAAAAAAAAAAAA","eci":"05"}`,
		`"payment_method":"pm_card_insufficient_funds"`,
	)
}

// create prepares a payment.
func (t *runner) create(amount int64, capture, source string) *Call {
	body := `{"amount":%d,"currency":%q,"capture":%q,"partial_authorization":%q,"reference":"{marker}",%s}`
	currency, partial := pick(t, "usd", "usd", "eur", "jpy", "kwd"), pick(t, "never", "if_available")
	return t.post(Create, "/v1/transactions", body, amount, currency, capture, partial, source)
}

// step prepares a request on a transaction.
func (t *runner) step(kind Kind, transaction, action, format string, args ...any) *Call {
	return t.post(kind, "/v1/transactions/"+transaction+action, format, args...).on(transaction)
}

// update prepares a change of a transaction.
func (t *runner) update(transaction, body string) *Call {
	return keyed(t.change(Update, http.MethodPatch, "/v1/transactions/"+transaction, body).on(transaction))
}

func (t *runner) capture(transaction string, amount int64, final bool) *Call {
	return t.step(Capture, transaction, "/captures", `{"amount":%d,"final":%t,"reference":"{marker}"}`, amount, final)
}

func (t *runner) void(transaction string) *Call { return t.step(Void, transaction, "/void", "{}") }

func (t *runner) refund(transaction, capture string, amount int64) *Call {
	of := ""
	if capture != "" {
		of = fmt.Sprintf(`,"capture":%q`, capture)
	}
	body := `{"transaction":%q,"amount":%d,"reference":"{marker}"%s}`
	return t.post(Refund, "/v1/refunds", body, transaction, amount, of).on(transaction)
}

func (t *runner) settle(transaction string) *Call {
	return t.post(Settle, "/v1/test_helpers/transactions/"+transaction+"/settle", "").on(transaction)
}

func (t *runner) expire(transaction string) *Call {
	return t.post(Expire, "/v1/test_helpers/transactions/"+transaction+"/expire", "").on(transaction)
}

// credit is an unlinked refund, to a card that no payment came from.
func (t *runner) credit() {
	if !t.h.credits {
		ensure(errOver)
	}
	t.do(t.post(
		Refund, "/v1/refunds", `{"amount":%d,"currency":"usd","payment_method":"card","reference":"{marker}",`+
			`"card":{"number":"4111111111111111","exp_month":4,"exp_year":2031}}`, t.amount(),
	))
}

// sale is captured immediately, and voided, or settled and refunded.
func (t *runner) sale() {
	amount := t.amount()
	c := t.create(amount, "automatic", t.source())
	switch {
	case t.chance(10):
		c = t.post(
			Create, "/v1/transactions", `{"amount":%d,"currency":"usd","reference":"{marker}","payment_method":"bank_account",`+
				`"bank_account":{"account_number":%q,"routing_number":"021000021","account_type":"checking","holder":"A"}}`,
			amount, pick(t, "000123456789", "000111111116"),
		)
	case t.chance(10):
		body := `{"amount":%d,"currency":"usd","reference":"{marker}","payment_method":"card"}`
		c = t.post(Create, "/v1/transactions", body, 2*refusedRefund)
	}
	t.must(c)
	paid := c.Response.transaction()
	if t.chance(25) {
		t.do(t.void(paid.ID))
		return
	}
	if t.chance(60) {
		t.do(t.settle(paid.ID))
	}
	t.giveBack(paid.ID, "", paid.AmountCaptured)
}

// giveBack refunds part of the captured amount in steps, and sometimes tries to refund more than
// it.
func (t *runner) giveBack(transaction, capture string, of int64) {
	if of > refusedRefund {
		t.do(t.refund(transaction, capture, refusedRefund))
		return
	}
	for range 1 + t.rng.IntN(3) {
		t.do(t.refund(transaction, capture, 1+of/2))
	}
}

// authorization makes an authorization, then captures it in parts. The rest is released, voided,
// or expires.
func (t *runner) authorization() {
	amount := pick(t, t.amount(), t.amount(), t.amount(), 200_000, refusedVoid)
	c := t.create(amount, "manual", t.source())
	t.must(c)
	held := c.Response.transaction()
	if amount == 200_000 {
		t.do(t.capture(held.ID, refusedCapture, false))
	}
	last := ""
	for range t.rng.IntN(3) {
		part := t.capture(held.ID, max(1, held.AmountAuthorized/4), t.chance(20))
		t.do(part)
		if part.ok() {
			last = read[v1.Capture](part.Response).ID
		}
	}
	switch {
	case t.chance(30):
		t.do(t.void(held.ID))
	case t.chance(15):
		t.do(t.expire(held.ID))
	case last != "":
		t.giveBack(held.ID, last, max(1, held.AmountAuthorized/4))
	}
}

// race sends steps on one transaction at the same time. Most of them exclude each other.
func (t *runner) race() {
	amount, capture := t.amount(), pick(t, "automatic", "manual")
	c := t.create(amount, capture, `"payment_method":"card"`)
	t.must(c)
	id, most := c.Response.id(), amount*6/10
	if capture == "automatic" {
		t.together(t.refund(id, "", most), t.refund(id, "", most), t.void(id), t.settle(id))
		return
	}
	t.together(t.capture(id, most, false), t.capture(id, most, true), t.void(id), t.expire(id))
}

// verification verifies a card.
func (t *runner) verification() {
	c := t.create(0, "manual", t.source())
	t.must(c)
	if t.chance(50) {
		t.do(t.void(c.Response.id()))
	}
}

// trouble makes payments with an acquirer that is slow, unavailable, or does not respond.
func (t *runner) trouble() {
	source, hangs := t.troubled()
	c := t.create(t.amount(), pick(t, "automatic", "manual"), source)
	c.Hangs = hangs
	t.do(c)
}

// troubled returns a payment source whose acquirer is slow, unavailable, or does not respond.
func (t *runner) troubled() (source string, hangs bool) {
	name := pick(t, "slow", "slow", "timeout_before_effect", "timeout_after_effect", "timeout_after_effect", "unavailable")
	return `"payment_method":"pm_card_` + name + `"`, name == "timeout_before_effect" || name == "timeout_after_effect"
}

// confirmation makes a payment that requires confirmation. Then the merchant or the payer's device
// confirms it, or the merchant voids it.
func (t *runner) confirmation() {
	body := `{"amount":%d,"currency":"usd","capture":%q,"confirm":false,"reference":"{marker}"}`
	c := t.post(Create, "/v1/transactions", body, t.amount(), pick(t, "automatic", "manual"))
	t.must(c)
	waiting := read[v1.Transaction](c.Response)
	if t.chance(15) {
		t.do(t.void(waiting.ID))
		return
	}
	source, hangs := t.source(), false
	if t.chance(20) {
		source, hangs = t.troubled()
	}
	if t.chance(30) {
		amount := t.amount()
		t.must(t.update(waiting.ID, fmt.Sprintf(`{"amount":%d}`, amount)))
		source += fmt.Sprintf(`,"amount":%d,"currency":"usd"`, amount)
	}
	confirm := t.step(Confirm, waiting.ID, "/confirm", "{%s}", source)
	confirm.Hangs = hangs
	if t.chance(50) && waiting.ClientSecret != nil {
		confirm.Auth = t.h.keys.Publishable
		confirm.Body = fmt.Sprintf(`{"client_secret":%q,%s}`, waiting.ClientSecret.Reveal(), source)
	}
	if t.chance(20) { // two at the same time: one succeeds
		t.together(confirm, t.step(Confirm, waiting.ID, "/confirm", `{"payment_method":"card"}`))
		return
	}
	t.do(confirm)
	if confirm.Response.declined() { // the payer uses another card
		confirm = t.step(Confirm, waiting.ID, "/confirm", "{%s}", t.source())
		t.do(confirm)
	}
	if !confirm.ok() {
		ensure(errOver)
	}
	if t.chance(40) {
		t.do(t.void(waiting.ID))
	}
	if t.chance(40) {
		t.do(t.update(waiting.ID, fmt.Sprintf(`{"description":"%d"}`, t.rng.IntN(1000))))
	}
}
