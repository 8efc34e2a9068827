package api_test

import (
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The fields of a valid source of each kind.
const (
	tokenFields   = `"number":"4895370012003478","exp_month":12,"exp_year":2030`
	accountFields = `"account_number":"000123456789","routing_number":"110000000","account_type":"checking","holder":"A. Payer"`
)

// paying returns a create with a payment method of a kind, and the object of that kind.
func paying(kind, fields, more string) string {
	return `{"amount":500,"currency":"usd","payment_method":"` + kind + `","` + kind + `":{` + fields + `}` + more + `}`
}

func TestNetworkToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := paying("network_token", tokenFields+`,"cryptogram":"AgAAAAAABk4DWZ4C28yUQAAAAAA=","eci":"05","requestor_id":"40010030273"`, manual)
	got := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", body), 201)
	read := b.wantTransaction(t, got.ID, v1.TransactionStatusAuthorized, amounts{500, 0, 0, 500, 0})
	for _, v := range []v1.Transaction{got, read} {
		if v.PaymentMethod != "network_token" || v.Card != nil || v.BankAccount != nil || v.NetworkToken == nil {
			t.Fatalf("got %+v", v)
		}
		n := v.NetworkToken
		if n.Brand != v1.CardBrandVisa || n.Last4 != "3478" || n.ExpYear != 2030 || *n.Eci != "05" || *n.RequestorID != "40010030273" || n.Fingerprint == "" {
			t.Errorf("got %+v", n)
		}
	}
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", paying("network_token", tokenFields, "")), 201)
	declined := strings.Replace(paying("network_token", tokenFields, ""), "4895370012003478", "4000000000009995", 1)
	wantRefusal(t, b.post(t, "/v1/transactions", declined), refusal{402, v1.ErrorTypeCardError, "card_declined", ""})
}

func TestBankAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", paying("bank_account", accountFields, "")), 201)
	read := b.wantTransaction(t, got.ID, v1.TransactionStatusCaptured, amounts{500, 500, 0, 0, 500})
	for _, v := range []v1.Transaction{got, read} {
		if v.PaymentMethod != "bank_account" || v.Card != nil || v.NetworkToken != nil || v.BankAccount == nil {
			t.Fatalf("got %+v", v)
		}
		a := *v.BankAccount
		a.Fingerprint = ""
		if want := (v1.BankAccount{Last4: "6789", RoutingNumber: "110000000", AccountType: "checking", Holder: "A. Payer"}); a != want {
			t.Errorf("got %+v, want %+v", a, want)
		}
	}
	other := strings.Replace(paying("bank_account", accountFields, ""), "110000000", "021000021", 1)
	elsewhere := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", other), 201)
	again := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", paying("bank_account", accountFields, "")), 201)
	if elsewhere.BankAccount.Fingerprint == got.BankAccount.Fingerprint || again.BankAccount.Fingerprint != got.BankAccount.Fingerprint {
		t.Errorf("fingerprints: got %s, again %s, at another bank %s", got.BankAccount.Fingerprint, again.BankAccount.Fingerprint, elsewhere.BankAccount.Fingerprint)
	}
	for number, code := range map[string]v1.DeclineCode{"000111111116": "insufficient_funds", "000222222227": "do_not_honor"} {
		a := b.post(t, "/v1/transactions", strings.Replace(paying("bank_account", accountFields, ""), "000123456789", number, 1))
		e := wantRefusal(t, a, refusal{402, v1.ErrorTypeCardError, "card_declined", ""})
		if *e.DeclineCode != code {
			t.Errorf("%s: got %s, want %s", number, *e.DeclineCode, code)
		}
	}
	MustDecode[v1.Refund](t, b.refund(t, got.ID, `,"amount":200`), 201)
	MustDecode[v1.Transaction](t, b.void(t, again.ID), 200)
}

func TestSourcesThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	card := `,"card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}`
	account, token := `,"bank_account":{`+accountFields+`}`, `,"network_token":{`+tokenFields+`}`
	cases := []badInput{
		{"token without its object", create1("network_token", ""), invalid("missing_field", "network_token"), nil},
		{"account without its object", create1("bank_account", ""), invalid("missing_field", "bank_account"), nil},
		{"card with token", create1("network_token", card), invalid("invalid_value", "card"), nil},
		{"card with account", paying("bank_account", accountFields, card), invalid("invalid_value", "card"), nil},
		{"token with card", create1("card", token), invalid("invalid_value", "network_token"), nil},
		{"token and card", create1("card", card+token), invalid("invalid_value", "network_token"), nil},
		{"account with a named method", create1("pm_card_visa", account), invalid("invalid_value", "bank_account"), nil},
		{"account, authorized only", paying("bank_account", accountFields, manual), invalid("invalid_value", "capture"), nil},
		{"account, verified", strings.Replace(paying("bank_account", accountFields, manual), "500", "0", 1), invalid("invalid_value", "capture"), nil},
		{"account in euro", strings.Replace(paying("bank_account", accountFields, ""), "usd", "eur", 1), invalid("invalid_value", "currency"), nil},
		{"account with 3-D Secure", paying("bank_account", accountFields, `,"three_d_secure":{"eci":"05"}`), invalid("invalid_value", "three_d_secure"), nil},
	}
	for _, c := range []struct{ kind, fields, old, new, code, param string }{
		{"network_token", tokenFields, `"number":"4895370012003478",`, "", "missing_field", "number"},
		{"network_token", tokenFields, "4895370012003478", "4895370012003479", "invalid_card_number", "number"},
		{"network_token", tokenFields, `"exp_month":12,`, "", "missing_field", "exp_month"},
		{"network_token", tokenFields, `"exp_month":12`, `"exp_month":13`, "invalid_value", "exp_month"},
		{"network_token", tokenFields, "2030", "2025", "expired_card", "exp_year"},
		{"network_token", tokenFields, "2030", `2030,"cvc":"123"`, "unknown_field", "cvc"},
		{"network_token", tokenFields, "2030", `2030,"eci":"5"`, "invalid_value", "eci"},
		{"network_token", tokenFields, "2030", `2030,"requestor_id":"4001003027"`, "invalid_value", "requestor_id"},
		{"network_token", tokenFields, "2030", `2030,"cryptogram":""`, "invalid_value", "cryptogram"},
		{"network_token", tokenFields, "2030", `2030,"cryptogram":"not base64"`, "invalid_value", "cryptogram"},
		{"network_token", tokenFields, "2030", `2030,"cryptogram":"` + strings.Repeat("A", 65) + `"`, "invalid_value", "cryptogram"},
		{"network_token", tokenFields, "2030", `2030,"cryptogram":null`, "invalid_type", "cryptogram"},
		{"bank_account", accountFields, `"account_number":"000123456789",`, "", "missing_field", "account_number"},
		{"bank_account", accountFields, "000123456789", "123", "invalid_value", "account_number"},
		{"bank_account", accountFields, "000123456789", "123456789012345678", "invalid_value", "account_number"},
		{"bank_account", accountFields, "000123456789", "0001-2345", "invalid_value", "account_number"},
		{"bank_account", accountFields, `"routing_number":"110000000",`, "", "missing_field", "routing_number"},
		{"bank_account", accountFields, "110000000", "110000001", "invalid_value", "routing_number"},
		{"bank_account", accountFields, "110000000", "11000000", "invalid_value", "routing_number"},
		{"bank_account", accountFields, `"account_type":"checking",`, "", "missing_field", "account_type"},
		{"bank_account", accountFields, "checking", "current", "invalid_value", "account_type"},
		{"bank_account", accountFields, `,"holder":"A. Payer"`, "", "missing_field", "holder"},
		{"bank_account", accountFields, "A. Payer", strings.Repeat("x", 256), "invalid_value", "holder"},
	} {
		body := paying(c.kind, strings.Replace(c.fields, c.old, c.new, 1), "")
		cases = append(cases, badInput{c.kind + " " + c.new, body, invalid(c.code, c.kind+"."+c.param), nil})
	}
	b.wantRefused(t, "/v1/transactions", cases)
}

// create1 returns a create of 1 with a payment method.
func create1(method, more string) string {
	return `{"amount":1,"currency":"usd","payment_method":"` + method + `"` + more + `}`
}

func TestThreeDSecureAndInitiator(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.MustCreate(t, 100, `,"three_d_secure":{"eci":"05","cavv":"AAABBEg0VhI0VniQEjRWAAAAAAA=","ds_transaction_id":"f38e6948-5388-41a6-bca4-b49723c19437","version":"2.2.0"},
		"initiator":{"type":"merchant","reason":"recurring","previous_network_transaction_id":"016150703802094"}`)
	for _, v := range []v1.Transaction{got, b.transaction(t, got.ID)} {
		if v.ThreeDSecure == nil || v.ThreeDSecure.Eci != "05" || *v.ThreeDSecure.Version != "2.2.0" || len(*v.ThreeDSecure.DsTransactionID) != 36 {
			t.Errorf("three_d_secure: got %+v", v.ThreeDSecure)
		}
		if v.Initiator == nil || v.Initiator.Type != "merchant" || *v.Initiator.Reason != "recurring" || *v.Initiator.PreviousNetworkTransactionID != "016150703802094" {
			t.Errorf("initiator: got %+v", v.Initiator)
		}
	}
	for _, reason := range []string{"recurring", "installment", "unscheduled", "resubmission", "delayed_charge", "reauthorization", "no_show"} {
		b.MustCreate(t, 100, `,"initiator":{"type":"merchant","reason":"`+reason+`"}`)
	}
	for _, reason := range []string{"recurring", "installment", "unscheduled"} {
		b.MustCreate(t, 100, `,"initiator":{"type":"customer","reason":"`+reason+`"}`)
	}
	b.MustCreate(t, 100, `,"initiator":{"type":"customer"}`)
	b.MustCreate(t, 100, `,"three_d_secure":{"eci":"07","version":"1.0"}`)
	var cases []badInput
	for fields, want := range map[string]refusal{
		`{}`:                                     invalid("missing_field", "initiator.type"),
		`{"type":"bank"}`:                        invalid("invalid_value", "initiator.type"),
		`{"type":"merchant"}`:                    invalid("missing_field", "initiator.reason"),
		`{"type":"merchant","reason":"whim"}`:    invalid("invalid_value", "initiator.reason"),
		`{"type":"customer","reason":"no_show"}`: invalid("invalid_value", "initiator.reason"),
		`{"type":"customer","previous_network_transaction_id":""}`:                                invalid("invalid_value", "initiator.previous_network_transaction_id"),
		`{"type":"customer","previous_network_transaction_id":"a b"}`:                             invalid("invalid_value", "initiator.previous_network_transaction_id"),
		`{"type":"customer","previous_network_transaction_id":"` + strings.Repeat("1", 65) + `"}`: invalid("invalid_value", "initiator.previous_network_transaction_id"),
		`{"type":"customer","why":"x"}`:                                                           invalid("unknown_field", "initiator.why"),
		`"merchant"`:                                                                              invalid("invalid_type", "initiator"),
	} {
		cases = append(cases, badInput{"initiator " + fields, create(1, `,"initiator":`+fields), want, nil})
	}
	for fields, param := range map[string]string{
		`"eci":"5"`: "eci", `"eci":"05","cavv":"a b"`: "cavv", `"eci":"05","cavv":"===="`: "cavv", `"eci":"05","version":"2"`: "version",
		`"eci":"05","version":"2.2.0.1"`: "version", `"eci":"05","version":"2.x"`: "version", `"eci":"05","ds_transaction_id":"é"`: "ds_transaction_id",
	} {
		cases = append(cases, badInput{fields, create(1, `,"three_d_secure":{`+fields+`}`), invalid("invalid_value", "three_d_secure."+param), nil})
	}
	b.wantRefused(t, "/v1/transactions", append(cases, badInput{"no eci", create(1, `,"three_d_secure":{"cavv":"AAAA"}`), invalid("missing_field", "three_d_secure.eci"), nil}))
}

// TestSourceSecretsAreNotKept sends the values that must not be stored, and looks for them in all
// files and logs of the service.
func TestSourceSecretsAreNotKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const cavv, cryptogram, account, token = "AAkBBzglVwAAAAAniFXyAAAAAAE", "CgAFgFKgdY4iQHXaAAAAAAABAAA", "88112233445566", "4895370012003478"
	threeDS := `,"three_d_secure":{"eci":"05","cavv":"` + cavv + `"}`
	for _, body := range []string{
		paying("network_token", tokenFields+`,"cryptogram":"`+cryptogram+`"`, threeDS),
		strings.Replace(paying("bank_account", accountFields, ""), "000123456789", account, 1),
		strings.Replace(paying("network_token", tokenFields+`,"cryptogram":"`+cryptogram+`"`, threeDS), "2030", "1999", 1), // refused
		strings.Replace(paying("bank_account", accountFields, manual), "000123456789", account, 1),                         // refused
	} {
		a := b.post(t, "/v1/transactions", body, keyed(body[20:60]))
		for _, secret := range []string{cavv, cryptogram, account, token} {
			if strings.Contains(string(a.body), secret) {
				t.Errorf("%s is in the response %s", secret, a.body)
			}
		}
	}
	b.restart(t)
	found := b.database.Files(t, b.dir)
	found["log"] = []byte(b.logs.String())
	for path, content := range found {
		for _, secret := range []string{cavv, cryptogram, account, token} {
			if strings.Contains(string(content), secret) {
				t.Errorf("%s is in %s", secret, path)
			}
		}
	}
}
