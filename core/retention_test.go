package core_test

import (
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestPersonalDataIsErased: after the time that an operator sets, payments, their captures and refunds and the events of all show no person
// any more. What the books need stays, and younger payments stay as they are.
func TestPersonalDataIsErased(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const person = `,"billing":{"first_name":"Erika","email":"erika@example.com"},"shipping":{"first_name":"Erika"},"description":"for Erika",
		"metadata":{"who":"Erika"},"reference":"order 7","payment_method":"card",
		"card":{"number":"5555555555554444","exp_month":12,"exp_year":2030,"cvc":"900","holder":"Erika M"}}`
	pay := func() v1.Transaction {
		return MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", `{"amount":500,"currency":"usd","capture":"automatic"`+person), 201)
	}
	old := pay()
	if a := b.post(t, "/v1/refunds", `{"transaction":"`+old.ID+`","amount":100,"metadata":{"who":"Erika"}}`); a.status != 201 {
		t.Fatalf("refund: got %d %s", a.status, a.body)
	}
	b.clock.Advance(2 * core.LeastKeepPersonal)
	young := pay()
	b.keepPersonal = core.LeastKeepPersonal
	b.again(t)
	show := func(path string) string { return string(b.get(t, path).body) }
	soon(t, func() bool { return !strings.Contains(show("/v1/transactions/"+old.ID), "Erika") })
	got := MustDecode[v1.Transaction](t, b.get(t, "/v1/transactions/"+old.ID), 200)
	if got.Amount != 500 || got.Currency != "usd" || got.Card.Brand != v1.CardBrandMastercard || got.Card.Last4 != "4444" || *got.Reference != "order 7" ||
		got.AmountRefunded != 100 || got.Card.Fingerprint != "" || got.CreatedAt != old.CreatedAt {
		t.Errorf("got %+v", got)
	}
	if is := MustDecode[v1.Transaction](t, b.get(t, "/v1/transactions/"+young.ID), 200); *is.Card.Holder != "Erika M" || is.Billing == nil {
		t.Errorf("a younger one: got %+v", is)
	}
	soon(t, func() bool {
		return b.number(t, "SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%'") == 1 &&
			b.number(t, "SELECT COUNT(*) FROM refunds WHERE details LIKE '%Erika%'") == 0 &&
			b.number(t, "SELECT COUNT(*) FROM transactions WHERE details LIKE '%Erika%'") == 1
	})
}

// soon waits for the background pass.
func soon(t *testing.T, is func() bool) {
	t.Helper()
	tick, over := time.NewTicker(20*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for !is() {
		select {
		case <-over:
			t.Fatal("not within a minute")
		case <-tick.C:
		}
	}
}
