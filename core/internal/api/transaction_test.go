package api_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// creation is a create that is approved, and the payment source in its response.
type creation struct {
	name, body string
	status     v1.TransactionStatus
	want       amounts
	method     string
	brand      v1.CardBrand
	last4      string
}

func creations() []creation {
	return []creation{
		{
			"captures immediately by default", create(1050, ""),
			v1.TransactionStatusCaptured,
			amounts{1050, 1050, 0, 0, 1050},
			"pm_card_visa", v1.CardBrandVisa, "4242",
		},
		{
			"captures immediately on request", create(1, `,"capture":"automatic"`),
			v1.TransactionStatusCaptured,
			amounts{1, 1, 0, 0, 1},
			"pm_card_visa", v1.CardBrandVisa, "4242",
		},
		{
			"authorizes only", create(1050, manual),
			v1.TransactionStatusAuthorized,
			amounts{1050, 0, 0, 1050, 0},
			"pm_card_visa", v1.CardBrandVisa, "4242",
		},
		{
			"takes card alone for the test card", `{"amount":200,"currency":"usd","payment_method":"card"}`,
			v1.TransactionStatusCaptured,
			amounts{200, 200, 0, 0, 200},
			"card", v1.CardBrandVisa, "4242",
		},
		{
			"takes a typed card", `{"amount":200,"currency":"usd","payment_method":"card",
				"card":{"number":"5555555555554444","exp_month":11,"exp_year":2026,"cvc":"900","holder":"A. Payer"}}`,
			v1.TransactionStatusCaptured,
			amounts{200, 200, 0, 0, 200},
			"card", v1.CardBrandMastercard, "4444",
		},
		{
			"takes the largest amount", create(999_999_999_999, ""), v1.TransactionStatusCaptured,
			amounts{999_999_999_999, 999_999_999_999, 0, 0, 999_999_999_999},
			"pm_card_visa", v1.CardBrandVisa, "4242",
		},
	}
}

func TestCreateTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range creations() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", c.body), 201)
			read := b.wantTransaction(t, got.ID, c.status, c.want)
			if got, want := fmt.Sprintf("%+v", flat(read)), fmt.Sprintf("%+v", flat(got)); got != want {
				t.Errorf("read back: got %s, want %s", got, want)
			}
			if got.PaymentMethod != c.method || got.Card == nil || got.Card.Brand != c.brand || got.Card.Last4 != c.last4 {
				t.Errorf("payment method: got %q and %+v, want %q and %s %s", got.PaymentMethod, got.Card, c.method, c.brand, c.last4)
			}
			if got.Version != 1 || got.Mode != v1.ModeTest || got.Object != v1.TransactionObjectTransaction || got.Currency != "usd" {
				t.Errorf("got version %d, mode %s, object %s, currency %s", got.Version, got.Mode, got.Object, got.Currency)
			}
			if got, want := got.CreatedAt.Time, birth; !got.Equal(want) {
				t.Errorf("created at: got %s, want %s", got, want)
			}
		})
	}
}

// flat returns a transaction without pointers, so that its printed form can be compared.
func flat(t v1.Transaction) v1.Transaction {
	t.Card, t.Checks, t.Authorization = nil, nil, nil
	return t
}

func TestCreateShowsWhatTheAcquirerSaid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", `{"amount":100,"currency":"usd","payment_method":"card","capture":"manual",
		"card":{"number":"4111111111111111","exp_month":12,"exp_year":2030,"cvc":"900"},
		"billing":{"address":{"line1":"1 Main Street","postal_code":"46201"}}}`), 201)
	if got.Authorization == nil || got.Authorization.Code == nil || len(*got.Authorization.Code) != 6 || got.Authorization.ResponseCode != "00" {
		t.Fatalf("authorization: got %+v", got.Authorization)
	}
	if got, want := got.Authorization.ExpiresAt.Time, birth.Add(7*24*time.Hour); !got.Equal(want) {
		t.Errorf("expires at: got %s, want %s", got, want)
	}
	if got, want := *got.Checks, (v1.Checks{Cvc: "match", AddressLine: "match", PostalCode: "no_match"}); got != want {
		t.Errorf("checks: got %+v, want %+v", got, want)
	}
	taken := b.MustCreate(t, 100, "")
	if taken.Authorization.ExpiresAt != nil {
		t.Errorf("a captured transaction expires at %s", taken.Authorization.ExpiresAt)
	}
}

func TestCreateKeepsTheMerchantsData(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.MustCreate(t, 100, `,"reference":"order 7","description":"Größe 42 👟","statement_descriptor":"SHOP",
		"billing":{"first_name":"Ann","last_name":"Payer","company":"ACME","email":"ann@example.com","phone":"+1 555 0100",
			"address":{"line1":"1 Main St","line2":"2","city":"Town","state":"WA","postal_code":"98004","country":"US"}},
		"shipping":{"first_name":"Bob"},
		"order":{"purchase_order_number":"PO1","tax_amount":0,"shipping_amount":5,"duty_amount":6,"discount_amount":7,"tax_exempt":true,
			"line_items":[{"id":"1","name":"Shoe","description":"left","quantity":"1.5","unit_price":"0.9999","taxable":false}]},
		"metadata":{"a":"","key":"value"}`)
	read := b.transaction(t, got.ID)
	for _, v := range []v1.Transaction{got, read} {
		if *v.Reference != "order 7" || *v.Description != "Größe 42 👟" || *v.StatementDescriptor != "SHOP" {
			t.Errorf("texts: got %q %q %q", *v.Reference, *v.Description, *v.StatementDescriptor)
		}
		if *v.Billing.Address.State != "WA" || *v.Billing.Email != "ann@example.com" || *v.Shipping.FirstName != "Bob" {
			t.Errorf("contacts: got %+v %+v", v.Billing, v.Shipping)
		}
		items := *v.Order.LineItems
		if *v.Order.TaxAmount != 0 || *v.Order.DiscountAmount != 7 || !*v.Order.TaxExempt || items[0].UnitPrice != "0.9999" || *items[0].Taxable {
			t.Errorf("order: got %+v", v.Order)
		}
		if len(v.Metadata) != 2 || v.Metadata["key"] != "value" {
			t.Errorf("metadata: got %v", v.Metadata)
		}
	}
}

func TestDecline(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for method, code := range map[string]v1.DeclineCode{
		"pm_card_declined": "generic_decline", "pm_card_insufficient_funds": "insufficient_funds", "pm_card_incorrect_cvc": "incorrect_cvc", // core itself declines a payment that the issuer approved
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			a := b.post(t, "/v1/transactions", `{"amount":100,"currency":"usd","payment_method":"`+method+`","reference":"r"}`)
			e := wantRefusal(t, a, refusal{402, v1.ErrorTypeCardError, "card_declined", ""})
			if e.DeclineCode == nil || *e.DeclineCode != code || e.Transaction == nil {
				t.Fatalf("decline code: got %v, want %s, with the transaction", e.DeclineCode, code)
			}
			read := b.wantTransaction(t, e.Transaction.ID, v1.TransactionStatusDeclined, amounts{})
			for _, v := range []v1.Transaction{*e.Transaction, read} {
				if *v.DeclineCode != code || v.Checks == nil || v.Authorization == nil || *v.Reference != "r" {
					t.Errorf("got decline %s, checks %+v, authorization %+v, reference %s", *v.DeclineCode, v.Checks, v.Authorization, *v.Reference)
				}
			}
		})
	}
}

func TestCurrencyExponents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, currency := range []string{"jpy", "kwd", "usd"} {
		a := b.post(t, "/v1/transactions", `{"amount":1,"currency":"`+currency+`","payment_method":"card","capture":"manual"}`)
		got := MustDecode[v1.Transaction](t, a, 201)
		if got.Currency != currency || got.AmountAuthorized != 1 {
			t.Errorf("got %d %s, want 1 %s", got.AmountAuthorized, got.Currency, currency)
		}
		captured := MustDecode[v1.Capture](t, b.capture(t, got.ID, ""), 201)
		refunded := MustDecode[v1.Refund](t, b.refund(t, got.ID, ""), 201)
		if captured.Currency != currency || refunded.Currency != currency {
			t.Errorf("steps: got %s and %s, want %s", captured.Currency, refunded.Currency, currency)
		}
	}
}

func TestFingerprintIsOfCardAndTenant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: coretest.MustCreateMerchant(t, b.core.Admin()), Mode: "test", Kind: "secret"})
	first := b.MustCreate(t, 1, "").Card.Fingerprint
	if got, want := b.MustCreate(t, 2, "").Card.Fingerprint, first; got != want {
		t.Errorf("same card: got %s, want %s", got, want)
	}
	foreign := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(1, ""), as(other)), 201)
	if got := foreign.Card.Fingerprint; got == first {
		t.Error("two merchants share a fingerprint")
	}
}

func TestAnotherTenantsObjectsAreNotThere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	stranger := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: coretest.MustCreateMerchant(t, b.core.Admin()), Mode: "test", Kind: "secret"}))
	live := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"}))
	txn := b.MustCreate(t, 100, manual)
	cap := MustDecode[v1.Capture](t, b.capture(t, txn.ID, `{"amount":60}`), 201)
	ref := MustDecode[v1.Refund](t, b.refund(t, txn.ID, `,"amount":10`), 201)
	missing := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}
	before := b.rows(t)
	for _, path := range []string{
		"/v1/transactions/" + txn.ID, "/v1/transactions/" + txn.ID + "/captures", "/v1/captures/" + cap.ID, "/v1/refunds/" + ref.ID,
	} {
		wantRefusal(t, b.get(t, path, stranger), missing)
		wantRefusal(t, b.get(t, path, live), missing)
	}
	wantRefusal(t, b.void(t, txn.ID, stranger), missing)
	wantRefusal(t, b.capture(t, txn.ID, "", stranger), missing)
	wantRefusal(t, b.post(t, "/v1/test_helpers/transactions/"+txn.ID+"/settle", "", stranger), missing)
	missing.param = "transaction"
	wantRefusal(t, b.refund(t, txn.ID, "", stranger), missing)
	for _, list := range []string{"/v1/transactions", "/v1/refunds"} {
		if got := MustDecode[page](t, b.get(t, list, stranger), 200); len(got.Data) != 0 {
			t.Errorf("%s: got %d strange objects", list, len(got.Data))
		}
	}
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	b.wantTransaction(t, txn.ID, v1.TransactionStatusPartiallyCaptured, amounts{100, 60, 10, 40, 50})
}

func TestUnknownIDs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	missing := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}
	absent := id.Format(id.Transaction, 12345)
	for _, path := range []string{
		"/v1/transactions/" + absent, "/v1/transactions/x", "/v1/transactions/" + id.Format(id.Capture, 12345),
		"/v1/transactions/" + absent + "/captures", "/v1/captures/" + absent, "/v1/refunds/re_", "/v1/refunds/%00",
	} {
		wantRefusal(t, b.get(t, path), missing)
	}
	wantRefusal(t, b.void(t, absent), missing)
	wantRefusal(t, b.capture(t, absent, `{"amount":1}`), missing)
	missing.param = "transaction"
	wantRefusal(t, b.refund(t, absent, ""), missing)
	wantRefusal(t, b.refund(t, "txn_1", ""), missing)
}
