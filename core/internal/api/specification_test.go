package api_test

import (
	"testing"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestSpecificationOfTimes has the statements of the specification that need a clock. Package
// specification of the tests of programs has all others.
func TestSpecificationOfTimes(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for statement, test := range map[string]func(*testing.T, *bundle){
		"Idempotency keys expire after 24 hours": func(t *testing.T, b *bundle) {
			t.Helper()
			const body = `{"amount":500,"currency":"usd","payment_method":"card"}`
			pay := func() response { return b.post(t, "/v1/transactions", body, keyed("once")) }
			first := pay()
			b.clock.Advance(day - time.Second)
			wantReplay(t, pay(), first)
			b.clock.Advance(time.Second)
			before := b.rows(t)
			if next := pay(); next.status != 201 || next.header.Get("Idempotent-Replayed") != "" || b.rows(t) == before {
				t.Errorf("after 24 hours: got %d %s, want another payment", next.status, next.body)
			}
		},
		"the old key stays active for 24 hours after the roll": func(t *testing.T, b *bundle) {
			t.Helper()
			old, secret := b.createKey(t, `{"kind":"secret"}`)
			MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys/"+old.ID+"/roll", ""), 201)
			b.clock.Advance(day - time.Second)
			MustDecode[page](t, b.get(t, "/v1/transactions", as(secret)), 200)
			b.clock.Advance(time.Second)
			b.wantDead(t, secret)
		},
	} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			test(t, setup(t))
		})
	}
}
