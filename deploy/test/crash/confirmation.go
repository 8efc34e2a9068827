package crash

import (
	"context"
	"fmt"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// confirmation makes a payment that waits, and has the merchant or the payer's device confirm it, or gives it up.
func (t *teller) confirmation(ctx context.Context) error {
	c := t.post(Create, "/v1/transactions", "")
	c.Body = fmt.Sprintf(`{"amount":%d,"currency":"usd","capture":%q,"confirm":false,"reference":%q}`,
		1000+t.rng.Int64N(9000), pick(t, "automatic", "manual"), c.Marker)
	if err := t.must(ctx, c); err != nil {
		return err
	}
	waiting := read[v1.Transaction](c.Answer)
	if t.chance(15) {
		return t.do(ctx, t.void(waiting.ID))
	}
	confirm := t.step(Confirm, waiting.ID, "/v1/transactions/"+waiting.ID+"/confirm", "")
	source := t.source()
	if t.chance(20) {
		name := pick(t, "slow", "timeout_before_effect", "timeout_after_effect", "unavailable")
		source = `"payment_method":"pm_card_` + name + `"`
		confirm.Hangs = name == "timeout_before_effect" || name == "timeout_after_effect"
	}
	confirm.Body = "{" + source + "}"
	if t.chance(50) && waiting.ClientSecret != nil {
		confirm.Auth = t.h.keys.Publishable
		confirm.Body = fmt.Sprintf(`{"client_secret":%q,%s}`, waiting.ClientSecret.Reveal(), source)
	}
	if t.chance(20) { // two at once: one goes through
		other := t.step(Confirm, waiting.ID, confirm.Path, `{"payment_method":"card"}`)
		return t.together(ctx, confirm, other)
	}
	if err := t.must(ctx, confirm); err != nil {
		return err
	}
	if t.chance(40) {
		return t.do(ctx, t.void(waiting.ID))
	}
	return nil
}
