package api_test

import (
	"testing"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// approvedBefore returns a create by a card whose issuer has approved the payment before, with its
// code.
func approvedBefore(method, code, more string) string {
	return create1(method, `,"prior_authorization":{"code":"`+code+`"}`+more)
}

func TestPriorAuthorization(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct{ name, body, code string }{
		{"by telephone, after the issuer had asked to be called", approvedBefore("pm_card_call_issuer", "A1B2C3", ""), "A1B2C3"},
		{"the shortest code", approvedBefore("pm_card_visa", "7", ""), "7"},
		{"with zeroes", approvedBefore("pm_card_visa", "000000", ""), "000000"},
		{"all or nothing", approvedBefore("pm_card_visa", "12345", `,"partial_authorization":"never","capture":"automatic","confirm":true`), "12345"},
		{
			"a typed card", typed("4000000000000010", `,"cvc":"901"`, `,"prior_authorization":{"code":"ABCDEF"},"billing":{"address":{"postal_code":"46282"}}`),
			"ABCDEF",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			made := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", c.body), 201)
			got := b.wantTransaction(t, made.ID, v1.TransactionStatusCaptured, amounts{made.Amount, made.Amount, 0, 0, made.Amount})
			if got.Authorization.Code == nil || *got.Authorization.Code != c.code || got.PriorAuthorization == nil || got.PriorAuthorization.Code != c.code {
				t.Errorf("got %+v, %+v, want the code %s", got.Authorization, got.PriorAuthorization, c.code)
			}
			wantCodes(t, got, "", "", "")
			MustDecode[v1.Refund](t, b.refund(t, made.ID, ""), 201)
		})
	}
	e := wantRefusal(t, b.post(t, "/v1/transactions", create1("pm_card_call_issuer", "")), refusal{402, v1.ErrorTypeCardError, "card_declined", ""})
	if *e.DeclineCode != v1.DeclineCodeCallIssuer || e.Transaction.PriorAuthorization != nil {
		t.Errorf("without it: got %+v", e)
	}
}

// TestPriorAuthorizationByAToken: a stored payment source can also be charged with the code of a
// prior approval.
func TestPriorAuthorizationByAToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token := b.MustToken(t, `{"card":{"number":"4000000000000010","exp_month":12,"exp_year":2030}}`)
	got := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", approvedBefore(token.Value.Reveal(), "A1B2C3", "")), 201)
	if *got.Authorization.Code != "A1B2C3" {
		t.Errorf("got %+v", got.Authorization)
	}
}

func TestPriorAuthorizationThatIsNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const param, code = "prior_authorization", "prior_authorization.code"
	before := func(more string) string { return approvedBefore("pm_card_visa", "A1B2C3", more) }
	b.wantRefused(t, "/v1/transactions", []badInput{
		{"no code", create1("card", `,"prior_authorization":{}`), invalid("missing_field", code), nil},
		{"empty", approvedBefore("card", "", ""), invalid("missing_field", code), nil},
		{"seven", approvedBefore("card", "1234567", ""), invalid("invalid_value", code), nil},
		{"small letters", approvedBefore("card", "a1b2c3", ""), invalid("invalid_value", code), nil},
		{"a space", approvedBefore("card", "A1 B2", ""), invalid("invalid_value", code), nil},
		{"null", create1("card", `,"prior_authorization":null`), invalid("invalid_type", param), nil},
		{"unknown field", create1("card", `,"prior_authorization":{"code":"1","issuer":"x"}`), invalid("unknown_field", param+".issuer"), nil},
		{"manual", before(manual), invalid("invalid_value", "capture"), nil},
		{"verification", `{"amount":0,"currency":"usd","payment_method":"card","capture":"manual","prior_authorization":{"code":"1"}}`, invalid("invalid_value", "capture"), nil},
		{"later", before(`,"confirm":false`), invalid("invalid_value", param), nil},
		{"in part", before(partially), invalid("invalid_value", "partial_authorization"), nil},
		{"3-D Secure", before(`,"three_d_secure":{"eci":"05"}`), invalid("invalid_value", "three_d_secure"), nil},
		{"bank account", paying("bank_account", accountFields, `,"prior_authorization":{"code":"1"}`), invalid("invalid_value", param), nil},
		{"network token", paying("network_token", tokenFields, `,"prior_authorization":{"code":"1"}`), invalid("invalid_value", param), nil},
	})
}

// TestPriorAuthorizationIsFoundAgain: after a lost response and a restart, the payment is found
// with its code.
func TestPriorAuthorizationIsFoundAgain(t *testing.T) {
	t.Parallel()
	b := setupWith(t, MustHurryCatalogue(t, 20*time.Millisecond))
	a := b.post(t, "/v1/transactions", approvedBefore("pm_card_timeout_after_effect", "Z9", ""), keyed("k"))
	e := wantRefusal(t, a, refusal{504, v1.ErrorTypeAPIError, "outcome_unknown", ""})
	b.restart(t)
	if got := b.resolved(t, e.Transaction.ID); got != v1.TransactionStatusCaptured {
		t.Fatalf("got %s, want captured", got)
	}
	if got := b.transaction(t, e.Transaction.ID); *got.Authorization.Code != "Z9" {
		t.Errorf("got %+v", got.Authorization)
	}
	again := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", approvedBefore("pm_card_timeout_after_effect", "Z9", ""), keyed("k")), 201)
	if again.ID != e.Transaction.ID {
		t.Errorf("got %s, want %s", again.ID, e.Transaction.ID)
	}
}
