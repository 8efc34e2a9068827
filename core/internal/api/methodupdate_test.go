package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestUpdatePaymentMethod: an update keeps the id and the fields that it does not have. Payments
// use the new values. Only an update that changes something writes an event.
func TestUpdatePaymentMethod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	m := b.MustAttach(t, customer, visa)
	path := "/v1/customers/" + customer + "/payment_methods/" + m.ID
	patch := func(body string, options ...option) v1.PaymentMethod {
		t.Helper()
		return MustDecode[v1.PaymentMethod](t, b.do(t, "PATCH", path, body, options...), 200)
	}
	want := m
	want.Card.ExpMonth, want.Card.ExpYear = 1, 2031
	wantSameJSON(t, patch(`{"card":{"exp_month":1,"exp_year":2031}}`), want)
	want.Metadata = v1.Metadata{"a": "b"}
	billed := patch(`{"billing":{"address":{"postal_code":"46201"}},"metadata":{"a":"b","c":""}}`, keyed("k"))
	if billed.Billing == nil || *billed.Billing.Address.PostalCode != "46201" {
		t.Errorf("billing: got %+v", billed.Billing)
	}
	wantSameJSON(t, patch(`{"billing":{"address":{"postal_code":"46201"}},"metadata":{"a":"b","c":""}}`, keyed("k")), billed)
	wantSameJSON(t, patch(`{"billing":{}}`), want)
	for _, same := range []string{"{}", `{"card":{"exp_month":1,"exp_year":2031},"metadata":{"a":"b"}}`, `{"billing":{}}`} {
		wantSameJSON(t, patch(same), want)
	}
	paid := MustDecode[v1.Transaction](t, b.pay(t, m.ID, ""), 201)
	if paid.Card.Last4 != "4242" || paid.Card.ExpYear != 2031 {
		t.Errorf("paid with %+v", paid.Card)
	}

	token := b.MustToken(t, strings.Replace(visa, "4242424242424242", "5555555555554444", 1)).Value.Reveal()
	replaced := patch(`{"token":"` + token + `"}`)
	if replaced.ID != m.ID || replaced.Card.Last4 != "4444" || replaced.Card.Fingerprint == m.Card.Fingerprint ||
		replaced.Metadata["a"] != "b" {
		t.Errorf("replaced: got %+v", replaced)
	}
	if paid := MustDecode[v1.Transaction](t, b.pay(t, m.ID, ""), 201); paid.Card.Last4 != "4444" {
		t.Errorf("paid with %+v", paid.Card)
	}
	b.wantFingerprints(t, customer, map[string]int{m.Card.Fingerprint: 0, replaced.Card.Fingerprint: 1})
	wantRefusal(t, b.do(t, "PATCH", path, `{"token":"`+token+`"}`), invalid("token_used", "token"))
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", path, ""), 200)
	if got := b.do(t, "PATCH", path, "{}"); got.status != 404 {
		t.Errorf("after it is gone: got %d %s", got.status, got.body)
	}
	if got, want := b.events(t, numberOf(t, id.PaymentMethod, m.ID)), []string{
		"payment_method.attached 1", "payment_method.updated 3", "payment_method.updated 4", "payment_method.updated 5",
		"payment_method.updated 6", "payment_method.detached 7",
	}; !slices.Equal(got, want) {
		t.Errorf("events: got %v, want %v", got, want)
	}
}

// wantFingerprints checks how many payment methods of a customer have each fingerprint.
func (b *bundle) wantFingerprints(t *testing.T, customer string, all map[string]int) {
	t.Helper()
	for fingerprint, want := range all {
		found := b.get(t, "/v1/customers/"+customer+"/payment_methods?fingerprint="+fingerprint)
		if got := len(MustDecode[v1.PaymentMethodList](t, found, 200).Data); got != want {
			t.Errorf("payment methods with the fingerprint %s: got %d, want %d", fingerprint, got, want)
		}
	}
}

// TestUpdatePaymentMethodRefuses: a refused update changes nothing.
func TestUpdatePaymentMethodRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer, other := b.MustCustomer(t, "{}").ID, b.MustCustomer(t, "{}").ID
	m, account := b.MustAttach(t, customer, visa), b.MustAttach(t, customer, `{"bank_account":{`+accountFields+`}}`)
	token := b.MustToken(t, visa).Value.Reveal()
	base := "/v1/customers/" + customer + "/payment_methods/"
	before := b.rows(t)
	for _, c := range []struct {
		path, body string
		want       refusal
	}{
		{base + m.ID, `{"card":{"exp_month":1,"exp_year":2031},"token":"` + token + `"}`, invalid("invalid_value", "token")},
		{base + m.ID, `{"card":{"exp_month":1,"exp_year":2020}}`, invalid("expired_card", "card.exp_year")},
		{base + m.ID, `{"card":{"exp_month":13,"exp_year":2031}}`, invalid("invalid_value", "card.exp_month")},
		{base + m.ID, `{"card":{"exp_month":1}}`, invalid("missing_field", "card.exp_year")},
		{base + m.ID, `{"token":""}`, invalid("missing_field", "token")},
		{base + m.ID, `{"token":"tok_x"}`, invalid("unknown_payment_method", "token")},
		{base + m.ID, `{"color":"red"}`, invalid("unknown_field", "color")},
		{base + account.ID, `{"card":{"exp_month":1,"exp_year":2031}}`, invalid("invalid_value", "card")},
		{"/v1/customers/" + other + "/payment_methods/" + m.ID, `{"metadata":{"a":"b"}}`, refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}},
		{"/v1/customers/" + other + "/payment_methods/" + m.ID, `{"token":"` + token + `"}`, refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}},
	} {
		wantRefusal(t, b.do(t, "PATCH", c.path, c.body), c.want)
	}
	if got := b.rows(t); got != before {
		t.Errorf("rows: got %s, want %s", got, before)
	}
	if MustDecode[v1.Token](t, b.get(t, "/v1/tokens/"+tokenID(token)), 200).Used {
		t.Error("a refused update used the token")
	}
	wantSameJSON(t, MustDecode[v1.PaymentMethod](t, b.get(t, base+m.ID), 200), m)
}
