package api_test

import (
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// wantCodes checks the result codes of a payment, "" for none.
func wantCodes(t *testing.T, got v1.Transaction, avs, cvc, cavv string) {
	t.Helper()
	for _, c := range []struct {
		name, want string
		got        *string
	}{
		{"avs", avs, got.Authorization.AvsResultCode},
		{"cvc", cvc, got.Authorization.CvcResultCode},
		{"cavv", cavv, got.Authorization.CavvResultCode},
	} {
		if (c.got == nil) != (c.want == "") || c.got != nil && *c.got != c.want {
			t.Errorf("%s: got %v, want %q: %+v", c.name, c.got, c.want, got.Authorization)
		}
	}
}

func TestResultCodes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const (
		card    = `,"cvc":"900"`
		address = `,"billing":{"address":{"line1":"1 Main Street","postal_code":"46203"}}`
		secure  = `,"three_d_secure":{"eci":"05","cavv":"AAABBBCCC"}`
	)
	for _, c := range []struct{ name, card, more, avs, cvc, cavv string }{
		{"nothing to check", "", "", "", "", ""},
		{"all of it", card, address + secure, "E", "M", "2"},
		{"a security code", card, "", "", "M", ""},
		{"an address", "", address, "E", "", ""},
		{"a line alone", "", `,"billing":{"address":{"line1":"1 Main Street"}}`, "Y", "", ""},
		{"a name is not an address", "", `,"billing":{"first_name":"A"}`, "", "", ""},
		{"3-D Secure", "", secure, "", "", "2"},
		{"3-D Secure without its value", "", `,"three_d_secure":{"eci":"05"}`, "", "", ""},
		{"for later", card, address + secure + manual, "E", "M", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", typed("4111111111111111", c.card, c.more)), 201)
			wantCodes(t, got, c.avs, c.cvc, c.cavv)
			wantCodes(t, b.transaction(t, got.ID), c.avs, c.cvc, c.cavv)
		})
	}
	a := b.post(t, "/v1/transactions", typed("4111111111111111", `,"cvc":"902"`, address))
	e := wantRefusal(t, a, refusal{402, v1.ErrorTypeCardError, "card_declined", ""})
	wantCodes(t, *e.Transaction, "E", "S", "")
	debit := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", paying("bank_account", accountFields, address)), 201)
	wantCodes(t, debit, "", "", "")
}

// TestPayerSeesNoResultCodes: only the merchant sees result codes.
func TestPayerSeesNoResultCodes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := b.MustPrepare(t, "")
	got := MustDecode[v1.Transaction](t, b.confirm(t, u.id, u.proven(typedCard), b.publishable(t)), 200)
	if got.Authorization != nil || got.Checks != nil {
		t.Errorf("got %+v, %+v", got.Authorization, got.Checks)
	}
	wantCodes(t, b.transaction(t, u.id), "", "M", "")
}
