package crash

import (
	"context"
	"fmt"
)

// token prepares a token of a card, or of a bank account, by the merchant or by the payer's device.
func (t *teller) token(withCVC bool) *Call {
	c := keyed(t.post(TokenCreate, "/v1/tokens", ""))
	if t.chance(25) {
		c.Key = ""
	}
	if t.chance(50) {
		c.Auth = t.h.keys.Publishable
	}
	cvc := ""
	if withCVC {
		cvc = `"cvc":"900",`
	}
	c.Body = fmt.Sprintf(`{"card":{"number":"4111111111111111","exp_month":4,"exp_year":2031,%s"holder":%q}}`, cvc, c.Marker)
	if !withCVC && t.chance(20) {
		c.Body = fmt.Sprintf(`{"bank_account":{"account_number":"000123456789","routing_number":"021000021","account_type":"checking","holder":%q}}`, c.Marker)
	}
	return c
}

// tokenStory uses a token once, or tries to twice at once.
func (t *teller) tokenStory(ctx context.Context) error {
	withCVC := t.chance(40)
	c := t.token(withCVC)
	if err := t.must(ctx, c); err != nil {
		return err
	}
	pay := func() *Call {
		p := t.post(Create, "/v1/transactions", "")
		p.Body = fmt.Sprintf(`{"amount":%d,"currency":"usd","capture":"automatic","reference":%q,"payment_method":%q}`,
			1000+t.rng.Int64N(9000), p.Marker, c.Answer.value())
		return p
	}
	if t.chance(50) {
		return t.together(ctx, pay(), pay(), pay())
	}
	if err := t.must(ctx, pay()); err != nil {
		return err
	}
	return t.do(ctx, pay()) // which is refused
}
