package crash

import (
	"context"
	"fmt"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The amounts that the simulator refuses a step for, whatever the card.
const (
	refusedCapture = 141414
	refusedRefund  = 131313
	refusedVoid    = 151515
)

// source is what a payment is made with, as the fields of a request. Some are declined, one is approved in part where that will do.
func (t *teller) source() string {
	return pick(t,
		`"payment_method":"card"`, `"payment_method":"card"`, `"payment_method":"pm_card_visa"`, `"payment_method":"pm_card_mastercard"`,
		`"payment_method":"card","card":{"number":"4111111111111111","exp_month":4,"exp_year":2031,"cvc":"900"},"billing":{"address":{"line1":"Elm","postal_code":"46214"}}`,
		`"payment_method":"card","card":{"number":"5424000000000015","exp_month":4,"exp_year":2031},"billing":{"address":{"postal_code":"46225"}}`,
		`"payment_method":"network_token","network_token":{"number":"4111111111111111","exp_month":4,"exp_year":2031,"cryptogram":"AAAAAAAAAAAAAAAAAAAA","eci":"05"}`,
		`"payment_method":"pm_card_insufficient_funds"`,
	)
}

// create prepares a payment.
func (t *teller) create(amount int64, capture, source string) *Call {
	c := t.post(Create, "/v1/transactions", "")
	c.Body = fmt.Sprintf(`{"amount":%d,"currency":%q,"capture":%q,"partial_authorization":%q,"reference":%q,%s}`, amount,
		pick(t, "usd", "usd", "eur", "jpy", "kwd"), capture, pick(t, "never", "if_available"), c.Marker, source)
	return c
}

// step prepares a request on a transaction.
func (t *teller) step(kind Kind, transaction, path, body string) *Call {
	c := t.post(kind, path, "")
	c.On, c.Body = transaction, body
	return c
}

func (t *teller) capture(transaction string, amount int64, final bool) *Call {
	c := t.step(Capture, transaction, "/v1/transactions/"+transaction+"/captures", "")
	c.Body = fmt.Sprintf(`{"amount":%d,"final":%t,"reference":%q}`, amount, final, c.Marker)
	return c
}

func (t *teller) void(transaction string) *Call {
	return t.step(Void, transaction, "/v1/transactions/"+transaction+"/void", "{}")
}

func (t *teller) refund(transaction, capture string, amount int64) *Call {
	c := t.step(Refund, transaction, "/v1/refunds", "")
	c.Body = fmt.Sprintf(`{"transaction":%q,"amount":%d,"reference":%q`, transaction, amount, c.Marker)
	if capture != "" {
		c.Body += fmt.Sprintf(`,"capture":%q`, capture)
	}
	c.Body += "}"
	return c
}

// credit is an unlinked refund, to a card that no payment came from.
func (t *teller) credit(ctx context.Context) error {
	if !t.h.credits {
		return errOver
	}
	c := t.post(Refund, "/v1/refunds", "")
	c.Body = fmt.Sprintf(`{"amount":%d,"currency":"usd","payment_method":"card","reference":%q,`+
		`"card":{"number":"4111111111111111","exp_month":4,"exp_year":2031}}`, 1000+t.rng.Int64N(9000), c.Marker)
	return t.do(ctx, c)
}

func (t *teller) settle(transaction string) *Call {
	return t.step(Settle, transaction, "/v1/test_helpers/transactions/"+transaction+"/settle", "")
}

func (t *teller) expire(transaction string) *Call {
	return t.step(Expire, transaction, "/v1/test_helpers/transactions/"+transaction+"/expire", "")
}

// sale is captured at once, and voided, or settled and given back.
func (t *teller) sale(ctx context.Context) error {
	amount := 1000 + t.rng.Int64N(9000)
	c := t.create(amount, "automatic", t.source())
	switch {
	case t.chance(10):
		c.Body = fmt.Sprintf(`{"amount":%d,"currency":"usd","reference":%q,"payment_method":"bank_account","bank_account":{"account_number":%q,`+
			`"routing_number":"021000021","account_type":"checking","holder":"A"}}`, amount, c.Marker, pick(t, "000123456789", "000111111116"))
	case t.chance(10):
		c.Body = fmt.Sprintf(`{"amount":%d,"currency":"usd","reference":%q,"payment_method":"card"}`, 2*refusedRefund, c.Marker)
	}
	if err := t.must(ctx, c); err != nil {
		return err
	}
	paid := c.Answer.transaction()
	if t.chance(25) {
		return t.do(ctx, t.void(paid.ID))
	}
	if t.chance(60) {
		if err := t.do(ctx, t.settle(paid.ID)); err != nil {
			return err
		}
	}
	return t.giveBack(ctx, paid.ID, "", paid.AmountCaptured)
}

// giveBack refunds some of what was captured, in parts, and at times more than there is.
func (t *teller) giveBack(ctx context.Context, transaction, capture string, of int64) error {
	if of > refusedRefund {
		return t.do(ctx, t.refund(transaction, capture, refusedRefund))
	}
	for range 1 + t.rng.IntN(3) {
		if err := t.do(ctx, t.refund(transaction, capture, 1+of/2)); err != nil {
			return err
		}
	}
	return nil
}

// authorization is held first, then captured in parts, and what is left of it released, voided, or left to expire.
func (t *teller) authorization(ctx context.Context) error {
	amount := pick(t, 1000+t.rng.Int64N(9000), 1000+t.rng.Int64N(9000), 1000+t.rng.Int64N(9000), 200_000, refusedVoid)
	c := t.create(amount, "manual", t.source())
	if err := t.must(ctx, c); err != nil {
		return err
	}
	held := c.Answer.transaction()
	if amount == 200_000 {
		if err := t.do(ctx, t.capture(held.ID, refusedCapture, false)); err != nil {
			return err
		}
	}
	last := ""
	for range t.rng.IntN(3) {
		part := t.capture(held.ID, max(1, held.AmountAuthorized/4), t.chance(20))
		if err := t.do(ctx, part); err != nil {
			return err
		}
		if part.ok() {
			last = read[v1.Capture](part.Answer).ID
		}
	}
	switch {
	case t.chance(30):
		return t.do(ctx, t.void(held.ID))
	case t.chance(15):
		return t.do(ctx, t.expire(held.ID))
	case last != "":
		return t.giveBack(ctx, held.ID, last, max(1, held.AmountAuthorized/4))
	}
	return nil
}

// race has steps of which one goes through meet on one transaction.
func (t *teller) race(ctx context.Context) error {
	amount := 1000 + t.rng.Int64N(9000)
	if t.chance(50) {
		c := t.create(amount, "automatic", `"payment_method":"card"`)
		if err := t.must(ctx, c); err != nil {
			return err
		}
		id, most := c.Answer.id(), amount*6/10
		return t.together(ctx, t.refund(id, "", most), t.refund(id, "", most), t.void(id), t.settle(id))
	}
	c := t.create(amount, "manual", `"payment_method":"card"`)
	if err := t.must(ctx, c); err != nil {
		return err
	}
	id := c.Answer.id()
	return t.together(ctx, t.capture(id, amount*6/10, false), t.capture(id, amount*6/10, true), t.void(id), t.expire(id))
}

// verification asks whether a card is good.
func (t *teller) verification(ctx context.Context) error {
	c := t.create(0, "manual", t.source())
	if err := t.must(ctx, c); err != nil {
		return err
	}
	if t.chance(50) {
		return t.do(ctx, t.void(c.Answer.id()))
	}
	return nil
}

// trouble is an acquirer that is slow, away, or whose answer does not come.
func (t *teller) trouble(ctx context.Context) error {
	name := pick(t, "slow", "slow", "timeout_before_effect", "timeout_after_effect", "timeout_after_effect", "unavailable")
	c := t.create(1000+t.rng.Int64N(9000), pick(t, "automatic", "manual"), `"payment_method":"pm_card_`+name+`"`)
	c.Hangs = name == "timeout_before_effect" || name == "timeout_after_effect"
	return t.do(ctx, c)
}
