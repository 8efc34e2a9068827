package core_test

import (
	"testing"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestRefusalStaysUnderItsKey: a refusal by time or stored state is the response to its key. An
// equal request that passes the check has no effect afterwards. It can be one that a core with a
// slower clock serves, or one that stalled between its checks and the claim of the key.
func TestRefusalStaysUnderItsKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := newReplayWorld(t, b)
	bare := b.mustCustomer(t)
	allow := func(t *testing.T, on bool) { t.Helper(); b.MustAllow(t, on) }
	at := func(now time.Time) func(*testing.T) { return func(*testing.T) { b.clock.Set(now) } }
	for _, c := range []struct {
		name, path, body string
		before, after    func(t *testing.T) // the request is refused before, and would pass after
		want             refusal
	}{
		{
			"expired card", "/v1/transactions", paid("card", `,"card":{`+lastMonth+`}`),
			at(afterMonthEnd), at(beforeMonthEnd),
			invalid("expired_card", "card.exp_year"),
		},
		{
			"expired card of a token", "/v1/tokens", `{"card":{` + lastMonth + `}}`,
			at(afterMonthEnd), at(beforeMonthEnd),
			invalid("expired_card", "card.exp_year"),
		},
		{
			"unlinked refund", "/v1/refunds", `{"amount":5,"currency":"usd","payment_method":"card"}`,
			func(t *testing.T) { t.Helper(); allow(t, false) }, func(t *testing.T) { t.Helper(); allow(t, true) },
			refusal{403, v1.ErrorTypePermissionError, "unlinked_refunds_not_allowed", ""},
		},
		{
			"no default", "/v1/transactions", `{"amount":5,"currency":"usd","customer":"` + bare + `"}`,
			func(*testing.T) {}, func(t *testing.T) {
				t.Helper()
				MustDecode[v1.Customer](t, b.setDefault(t, bare, b.MustAttach(t, bare, visa).ID), 200)
			}, invalid("missing_field", "payment_method"),
		},
		{
			"default of another kind", "/v1/transactions",
			`{"amount":5,"currency":"usd","customer":"` + w.customer + `","card_cvc":"1234"}`,
			func(*testing.T) {}, func(t *testing.T) {
				t.Helper()
				amex := b.MustAttach(t, w.customer, `{"card":{"number":"378282246310005","exp_month":12,"exp_year":2030}}`)
				MustDecode[v1.Customer](t, b.setDefault(t, w.customer, amex.ID), 200)
			}, invalid("invalid_cvc", "card_cvc"),
		},
	} {
		c.before(t)
		first := b.post(t, c.path, c.body, keyed(c.name))
		wantRefusal(t, first, c.want)
		c.after(t)
		wantReplay(t, b.post(t, c.path, c.body, keyed(c.name)), first)
		got := MustDecode[v1.IdempotencyKeyRecord](t, b.lookUp(t, c.name), 200)
		if *got.HTTPStatus != c.want.status || got.Resource != nil {
			t.Errorf("%s: got %+v, want the refusal", c.name, got)
		}
		if a := b.post(t, c.path, c.body, keyed(c.name+" passes")); a.status != 201 {
			t.Errorf("%s under another key: got %d %s, want 201", c.name, a.status, a.body)
		}
	}
}
