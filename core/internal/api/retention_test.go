package api_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestPersonalDataIsErased: after the time that an operator sets, payments, their captures, refunds
// and events contain no personal data. Amounts and references remain for the books. Younger
// payments do not change.
func TestPersonalDataIsErased(t *testing.T) {
	t.Parallel()
	b, one, _, payer := setupSenders(t)
	const person = `,"billing":{"first_name":"Erika","email":"erika@example.com"},"shipping":{"first_name":"Erika"},"description":"for Erika",
		"metadata":{"who":"Erika"},"reference":"order 7","payment_method":"card",
		"card":{"number":"5555555555554444","exp_month":12,"exp_year":2030,"cvc":"900","holder":"Erika M"}}`
	pay := func() v1.Transaction {
		return MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", `{"amount":500,"currency":"usd","capture":"automatic"`+person), 201)
	}
	old := pay()
	var confirmed, canceled v1.Transaction
	for _, to := range []*v1.Transaction{&confirmed, &canceled} {
		*to = MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", waiting(""), from(one)), 201)
	}
	proof := unconfirmed{confirmed.ID, confirmed.ClientSecret.Reveal()}.proven(typedCard)
	MustDecode[v1.Transaction](t, b.confirm(t, confirmed.ID, proof, from(payer)), 200)
	MustDecode[v1.Transaction](t, b.void(t, canceled.ID, from(one)), 200)
	customer := b.MustCustomer(t, "{}").ID
	b.MustAttach(t, customer, visa)
	if a := b.post(t, "/v1/refunds", `{"transaction":"`+old.ID+`","amount":100,"metadata":{"who":"Erika"}}`); a.status != 201 {
		t.Fatalf("refund: got %d %s", a.status, a.body)
	}
	if got := b.addressed(t, 0); got != 10 {
		t.Fatalf("got %d client addresses, want 10", got)
	}
	b.clock.Advance(2 * core.LeastKeepPersonal)
	keys := b.requestKeys(t)
	young := pay()
	b.MustAttach(t, b.MustCustomer(t, "{}").ID, visa)
	b.keepPersonal = core.LeastKeepPersonal
	b.again(t)
	show := func(path string) string { return string(b.get(t, path).body) }
	programtest.WaitFor(t, "the personal data are erased", func() bool { return !strings.Contains(show("/v1/transactions/"+old.ID), "Erika") })
	got := MustDecode[v1.Transaction](t, b.get(t, "/v1/transactions/"+old.ID), 200)
	if got.Amount != 500 || got.Currency != "usd" || got.Card.Brand != v1.CardBrandMastercard || got.Card.Last4 != "4444" || *got.Reference != "order 7" ||
		got.AmountRefunded != 100 || got.Card.Fingerprint != "" || got.CreatedAt != old.CreatedAt {
		t.Errorf("got %+v", got)
	}
	if is := MustDecode[v1.Transaction](t, b.get(t, "/v1/transactions/"+young.ID), 200); *is.Card.Holder != "Erika M" || is.Billing == nil {
		t.Errorf("a younger one: got %+v", is)
	}
	programtest.WaitFor(t, "the personal data are erased", func() bool {
		return b.number(t, "SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%'") == 1 &&
			b.number(t, "SELECT COUNT(*) FROM refunds WHERE details LIKE '%Erika%'") == 0 &&
			b.number(t, "SELECT COUNT(*) FROM transactions WHERE details LIKE '%Erika%'") == 1 &&
			b.addressed(t, 0) == 4
	})
	if got := b.addressed(t, MustNumber(t, id.Transaction, young.ID)); got != 4 {
		t.Errorf("got %d client addresses of younger rows, want 4", got)
	}
	if got := b.requestKeys(t); got != keys+4 {
		t.Errorf("got %d rows with an API key, want %d", got, keys+4)
	}
}

// clientColumns returns the columns of kept rows that record the client of a request.
func clientColumns() [][2]string {
	return [][2]string{
		{"transactions", ""},
		{"transactions", "confirm_"},
		{"transactions", "void_"},
		{"captures", ""},
		{"refunds", ""},
		{"customers", ""},
		{"payment_methods", ""},
	}
}

// addressed counts the client addresses of rows from an id on.
func (b *bundle) addressed(t *testing.T, from int64) (n int64) {
	t.Helper()
	for _, c := range clientColumns() {
		n += b.number(t, "SELECT COUNT(*) FROM "+c[0]+" WHERE id >= ? AND "+c[1]+"client_address <> ''", from)
	}
	return n
}

// requestKeys counts the API keys that rows record.
func (b *bundle) requestKeys(t *testing.T) (n int64) {
	t.Helper()
	for _, c := range clientColumns() {
		n += b.number(t, "SELECT COUNT(*) FROM "+c[0]+" WHERE "+c[1]+"api_key_id <> 0")
	}
	return n
}
