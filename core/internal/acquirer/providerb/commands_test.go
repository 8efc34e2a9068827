package providerb_test

import (
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func captures(t *testing.T, a *account) {
	t.Helper()
	p, _ := a.authorize(t, payment(10000, false))
	a.moved(t, "authorized", p.ID, v1.TransactionStatusAuthorized, 10000, 0, 0)
	first := a.take(t, acquirer.Follow{Original: p, Amount: 3000})
	a.moved(t, "captured in part", p.ID, v1.TransactionStatusPartiallyCaptured, 10000, 3000, 0)
	second := a.take(t, acquirer.Follow{Original: p, Amount: 5000, Captures: []acquirer.Sent{first}, Final: true})
	got := a.moved(t, "captured", p.ID, v1.TransactionStatusCaptured, 10000, 8000, 0)
	if got.AmountCapturable != 0 {
		t.Errorf("after the final capture: got %d to capture, want 0", got.AmountCapturable)
	}
	refund := func(of acquirer.Sent, amount int64, want bool) {
		t.Helper()
		a.follow(t, a.Refund, acquirer.Follow{Original: p, Captures: []acquirer.Sent{of}, Amount: amount}, want)
	}
	refund(second, 1000, true)
	refund(first, 3001, false)
	refund(first, 3000, true)
	a.moved(t, "refunded", p.ID, v1.TransactionStatusCaptured, 10000, 8000, 4000)
	a.follow(t, a.Refund, acquirer.Follow{Original: second, Amount: 4000}, true) // as in a reversal of a late capture
	a.moved(t, "refunded a late capture", p.ID, v1.TransactionStatusCaptured, 10000, 8000, 8000)
	for of, want := range map[acquirer.Sent]int64{first: 3000, second: 5000} {
		if c := read[v1.Capture](t, a.standalone, id.Capture, "/v1/captures/", of.ID); c.AmountRefunded != want {
			t.Errorf("refunded of the capture of %d: got %d, want %d", c.Amount, c.AmountRefunded, want)
		}
	}
	a.follow(t, a.Capture, acquirer.Follow{Original: acquirer.Sent{ID: "1", Currency: "usd"}, Amount: 1}, false)
}

func sales(t *testing.T, a *account) {
	t.Helper()
	p, got := a.authorize(t, payment(5000, true))
	if !got.Approved || got.Amount != 5000 || got.Code == "" || got.NetworkTransactionID == "" {
		t.Errorf("sale: got %+v", got)
	}
	a.moved(t, "sold", p.ID, v1.TransactionStatusCaptured, 5000, 5000, 0)
	a.follow(t, a.Refund, acquirer.Follow{Original: p, Amount: 1000}, true)
	a.moved(t, "refunded in part", p.ID, v1.TransactionStatusCaptured, 5000, 5000, 1000)
	a.follow(t, a.Refund, acquirer.Follow{Original: p, Amount: 4000}, true)
	a.moved(t, "refunded", p.ID, v1.TransactionStatusCaptured, 5000, 5000, 5000)
}

func voids(t *testing.T, a *account) {
	t.Helper()
	p, _ := a.authorize(t, payment(2000, false))
	void := acquirer.Follow{Original: p, Amount: 2000}
	a.follow(t, a.Void, void, true)
	a.moved(t, "reversed", p.ID, v1.TransactionStatusVoided, 2000, 0, 0)
	a.follow(t, a.Void, void, true) // another void finds that it was reversed

	p, _ = a.authorize(t, payment(2100, true))
	a.follow(t, a.Void, acquirer.Follow{Original: p, Amount: 2100}, true)
	a.moved(t, "voided sale", p.ID, v1.TransactionStatusVoided, 2100, 0, 0)

	p, _ = a.authorize(t, payment(2200, false))
	taken := a.take(t, acquirer.Follow{Original: p, Amount: 2200, Final: true})
	void = acquirer.Follow{Original: p, Amount: 2200, Captures: []acquirer.Sent{taken}}
	a.follow(t, a.Void, void, true)
	a.moved(t, "voided capture", p.ID, v1.TransactionStatusVoided, 2200, 0, 0)
	a.follow(t, a.Void, void, true)

	p, _ = a.authorize(t, payment(2300, false))
	taken = a.take(t, acquirer.Follow{Original: p, Amount: 2300, Final: true})
	a.follow(t, a.Refund, acquirer.Follow{Original: p, Captures: []acquirer.Sent{taken}, Amount: 1}, true)
	a.follow(t, a.Void, acquirer.Follow{Original: p, Amount: 2300, Captures: []acquirer.Sent{taken}}, false)
	a.moved(t, "refunded, so not voided", p.ID, v1.TransactionStatusCaptured, 2300, 2300, 1)
}

func declines(t *testing.T, a *account) {
	t.Helper()
	for number, want := range map[string]v1.DeclineCode{
		"4000000000000002": v1.DeclineCodeGenericDecline, "4000000000009995": v1.DeclineCodeInsufficientFunds,
		"4000000000000010": v1.DeclineCodeCallIssuer, "4000000000000028": v1.DeclineCodePickupCard,
		"4000000000009987": v1.DeclineCodeLostCard, "4000000000009979": v1.DeclineCodeStolenCard,
		"4000000000000069": v1.DeclineCodeExpiredCard, "4000000000000127": v1.DeclineCodeIncorrectCvc,
		"4000000000000044": v1.DeclineCodeLimitExceeded, "4242424242424241": v1.DeclineCodeCardNotSupported,
	} {
		r := payment(100, true)
		r.Card.Number = secret.New(number)
		_, got := a.authorize(t, r)
		if got.Approved || got.DeclineCode != string(want) || len(got.ResponseCode) != 2 {
			t.Errorf("%s: got %+v, want %s", number, got, want)
		}
	}
}

func sources(t *testing.T, a *account) {
	t.Helper()
	r := payment(0, false)
	r.Card.CVC = secret.New("900")
	r.Billing = acquirer.Billing{AddressLine: "1 Main St", PostalCode: "46201", Country: "US"}
	p, got := a.authorize(t, r)
	want := acquirer.Checks{CVC: "match", AddressLine: "match", PostalCode: "no_match"}
	want.Codes.AVS, want.Codes.CVC = "A", "M"
	if !got.Approved || got.Amount != 0 || got.Checks != want {
		t.Errorf("verification: got %+v, want checks %+v", got, want)
	}
	a.moved(t, "verified", p.ID, v1.TransactionStatusAuthorized, 0, 0, 0)

	r = payment(700, true)
	r.Source = acquirer.Source{NetworkToken: acquirer.NetworkToken{
		Number: secret.New("5555555555554444"), Cryptogram: secret.New("AAECAwQFBgcICQoLDA0ODw=="),
		ExpMonth: 1, ExpYear: 2031, ECI: "02", RequestorID: "12345678901",
	}}
	p, _ = a.authorize(t, r)
	paid := a.moved(t, "token", p.ID, v1.TransactionStatusCaptured, 700, 700, 0)
	if n := paid.NetworkToken; n == nil || n.Last4 != "4444" || v1.Text(n.Eci) != "02" ||
		v1.Text(n.RequestorID) != "12345678901" {
		t.Errorf("token: v1 has %+v", n)
	}

	r = payment(800, true)
	r.Source = acquirer.Source{BankAccount: acquirer.BankAccount{
		Number: secret.New("000123456789"), RoutingNumber: "110000000", Type: "savings", Holder: "Ana Maria Lopez",
	}}
	p, got = a.authorize(t, r)
	if !got.Approved || got.Amount != 800 {
		t.Errorf("bank account: got %+v", got)
	}
	paid = a.moved(t, "bank account", p.ID, v1.TransactionStatusCaptured, 800, 800, 0)
	if b := paid.BankAccount; b == nil || b.Last4 != "6789" || b.RoutingNumber != "110000000" ||
		b.AccountType != v1.BankAccountTypeSavings {
		t.Errorf("bank account: v1 has %+v", b)
	}
	r.Reference, r.BankAccount.Number = newReference(), secret.New("000111111116")
	if _, got = a.authorize(t, r); got.Approved {
		t.Errorf("bank account that declines: got %+v", got)
	}
}

func data(t *testing.T, a *account) {
	t.Helper()
	r := payment(900, true)
	r.Billing = acquirer.Billing{
		FirstName: "Ana", LastName: "Lopez", Company: "Lopez Ltd", AddressLine: "1 Main St", AddressLine2: "Flat 2",
		City: "Austin", State: "TX", PostalCode: "73301", Country: "US", Email: "ana@example.com", Phone: "+15125550100",
	}
	r.ThreeDSecure = acquirer.ThreeDSecure{
		ECI: "05", CAVV: secret.New("AAABBEg0VhI0VniQEjRWAAAAAAA="),
		DSTransactionID: "f25084f0-5b16-4c0a-ae5d-b24808a95e4b", Version: "2.2.0",
	}
	r.Order = acquirer.Order{
		Reference: "order 17", Description: "Two mugs", StatementDescriptor: "LOPEZ MUGS",
		Details: []byte(`{"tax_amount":70,"shipping_amount":30,"purchase_order_number":"PO 5","tax_exempt":false,` +
			`"line_items":[{"id":"mug","name":"Mug","quantity":"2","unit_price":"4.00"}]}`),
	}
	r.Initiator = acquirer.Initiator{Type: "customer", Reason: "recurring"}
	p, first := a.authorize(t, r)
	paid := a.moved(t, "data", p.ID, v1.TransactionStatusCaptured, 900, 900, 0)
	if v1.Text(paid.Reference) != "order 17" || v1.Text(paid.Description) != "Two mugs" ||
		v1.Text(paid.StatementDescriptor) != "LOPEZ MUGS" {
		t.Errorf("order: v1 has %v, %v, %v", paid.Reference, paid.Description, paid.StatementDescriptor)
	}
	b := paid.Billing
	if b == nil || b.Address == nil || v1.Text(b.Company) != "Lopez Ltd" || v1.Text(b.Address.Line2) != "Flat 2" ||
		v1.Text(b.Email) != "ana@example.com" || v1.Text(b.Phone) != "+15125550100" {
		t.Errorf("billing: v1 has %+v", b)
	}
	if d := paid.ThreeDSecure; d == nil || d.Eci != "05" || v1.Text(d.Version) != "2.2.0" {
		t.Errorf("3-D Secure: v1 has %+v", d)
	}
	if got := first.Checks.Codes; got.CAVV != "2" || got.AVS != "Y" {
		t.Errorf("result codes: got %+v", got)
	}
	o := paid.Order
	if o == nil || o.TaxAmount == nil || *o.TaxAmount != 70 || *o.ShippingAmount != 30 ||
		v1.Text(o.PurchaseOrderNumber) != "PO 5" || o.LineItems == nil || (*o.LineItems)[0].UnitPrice != "4.00" {
		t.Errorf("details: v1 has %+v", o)
	}
	stored(t, a, first.NetworkTransactionID)
}

// stored sends payments with a stored card, and one that the issuer has approved before.
func stored(t *testing.T, a *account, previous string) {
	t.Helper()
	for reason, previous := range map[string]string{
		"recurring": previous, "unscheduled": "", "delayed_charge": "",
	} {
		again := payment(100, true)
		again.Initiator = acquirer.Initiator{Type: "merchant", Reason: reason, PreviousNetworkTransactionID: previous}
		p, _ := a.authorize(t, again)
		i := a.moved(t, reason, p.ID, v1.TransactionStatusCaptured, 100, 100, 0).Initiator
		if i == nil || i.Type != v1.InitiatorTypeMerchant || i.Reason == nil || string(*i.Reason) != reason ||
			v1.Text(i.PreviousNetworkTransactionID) != previous {
			t.Errorf("initiator: v1 has %+v, want merchant, %s, %q", i, reason, previous)
		}
	}
	prior := payment(300, true)
	prior.PriorCode, prior.Card.Number = "A1B2C3", secret.New("4000000000000010")
	if _, got := a.authorize(t, prior); !got.Approved || got.Code != "A1B2C3" {
		t.Errorf("prior approval: got %+v", got)
	}
}

func partial(t *testing.T, a *account) {
	t.Helper()
	r := payment(1000, false)
	r.Partial, r.Billing = true, acquirer.Billing{PostalCode: "46228"}
	p, got := a.authorize(t, r)
	if !got.Approved || got.Amount != 123 || got.Balance != (acquirer.Balance{Given: true}) {
		t.Errorf("got %+v, want 123 and no balance", got)
	}
	a.moved(t, "part", p.ID, v1.TransactionStatusAuthorized, 123, 0, 0)
	a.follow(t, a.Void, acquirer.Follow{Original: p, Amount: 123}, true)
	a.moved(t, "released part", p.ID, v1.TransactionStatusVoided, 123, 0, 0)

	r = payment(1000, true)
	r.Billing.PostalCode = "46227"
	if _, got := a.authorize(t, r); got.Balance != (acquirer.Balance{Given: true, Amount: -123}) {
		t.Errorf("overdrawn card: got %+v", got.Balance)
	}
	yen := payment(5000, true)
	yen.Currency = "jpy"
	p, _ = a.authorize(t, yen)
	a.moved(t, "yen", p.ID, v1.TransactionStatusCaptured, 5000, 5000, 0)
}

func credits(t *testing.T, a *account) {
	t.Helper()
	r := acquirer.Credit{Reference: newReference(), Amount: 640, Currency: "usd", Source: payment(0, false).Source}
	got, err := a.Credit(t.Context(), r)
	if err != nil || !got.Approved || got.Amount != 640 {
		t.Fatalf("got %+v and %v", got, err)
	}
	given := read[v1.Refund](t, a.standalone, id.Refund, "/v1/refunds/", got.ID)
	if given.Amount != 640 || given.Status != v1.RefundStatusSucceeded || given.Transaction != "" {
		t.Errorf("v1 has %+v", given)
	}
	r.Reference, r.Source = newReference(), acquirer.Source{BankAccount: acquirer.BankAccount{
		Number: secret.New("000123456789"), RoutingNumber: "110000000", Type: "checking", Holder: "Ana Lopez",
	}}
	if got, err := a.Credit(t.Context(), r); err != nil || !got.Approved {
		t.Errorf("bank account: got %+v and %v", got, err)
	}
}

// details: an operation with an id has the state that v1 has.
func details(t *testing.T, a *account) {
	t.Helper()
	inquire := func(what string, about acquirer.Sent, approved, released bool) {
		t.Helper()
		got, err := a.Inquire(t.Context(), about)
		if err != nil || got.Approved != approved || got.Released != released || approved && got.Amount != about.Amount {
			t.Errorf("%s: got %+v and %v, want approved %t, released %t", what, got, err, approved, released)
		}
	}
	p, _ := a.authorize(t, payment(1500, false))
	inquire("authorization", p, true, false)
	taken := a.take(t, acquirer.Follow{Original: p, Amount: 1500, Final: true})
	inquire("capture", taken, true, false)
	back := a.follow(t, a.Refund, acquirer.Follow{Original: p, Captures: []acquirer.Sent{taken}, Amount: 500}, true)
	back.Kind = acquirer.Refund
	inquire("refund", back, true, false)
	sale, _ := a.authorize(t, payment(1600, true))
	inquire("sale", sale, true, false)
	a.follow(t, a.Void, acquirer.Follow{Original: sale, Amount: 1600}, true)
	inquire("voided sale", sale, true, true)
	r := payment(100, true)
	r.Card.Number = secret.New("4000000000009995")
	sale, _ = a.authorize(t, r)
	inquire("declined sale", sale, false, false)
	none := acquirer.Sent{Kind: acquirer.Sale, ID: "1"}
	if got, err := a.Inquire(t.Context(), none); !errors.Is(err, acquirer.ErrUnknown) {
		t.Errorf("unknown id: got %+v and %v, want %v", got, err, acquirer.ErrUnknown)
	}
}
