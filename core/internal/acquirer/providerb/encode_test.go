package providerb_test

import (
	"errors"
	"flag"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providerb"
	"github.com/causeway-pay/causeway/shared/secret"
)

var update = flag.Bool("update", false, "write the golden files")

// commands are the payments of testdata/encode. The first word of a name is the kind.
func commands() map[string]any {
	source := func(number string) acquirer.Source {
		return acquirer.Source{Card: acquirer.Card{
			Number: secret.New(number), CVC: secret.New("123"), ExpMonth: 3, ExpYear: 2031,
		}}
	}
	visa, mastercard := source("4111111111111111"), source("5555555555554444")
	bank := acquirer.Source{BankAccount: acquirer.BankAccount{
		Number: secret.New("000123456789"), RoutingNumber: "110000000", Type: "business_checking",
		Holder: "Ana Maria Lopez",
	}}
	token := acquirer.Source{NetworkToken: acquirer.NetworkToken{
		Number: secret.New("4111111111111111"), Cryptogram: secret.New("AAECAwQFBgcICQoLDA0ODw=="),
		ExpMonth: 12, ExpYear: 2030, ECI: "05", RequestorID: "12345678901",
	}}
	authorize := func(s acquirer.Source, change func(*acquirer.Authorize)) acquirer.Authorize {
		r := acquirer.Authorize{Reference: "txn_01jd8m3k2q4r5", Amount: 10221, Currency: "usd", Source: s}
		change(&r)
		return r
	}
	secure := func(eci string) func(*acquirer.Authorize) {
		return func(r *acquirer.Authorize) {
			r.ThreeDSecure = acquirer.ThreeDSecure{
				ECI: eci, CAVV: secret.New("AAABBEg0VhI0VniQEjRWAAAAAAA="), DSTransactionID: "f25084f0-5b16", Version: "2.2.0",
			}
		}
	}
	initiated := func(i acquirer.Initiator) func(*acquirer.Authorize) {
		return func(r *acquirer.Authorize) { r.Initiator = i }
	}
	return map[string]any{
		"authorize":          authorize(visa, func(*acquirer.Authorize) {}),
		"authorize sale":     authorize(mastercard, func(r *acquirer.Authorize) { r.Capture, r.Partial = true, true }),
		"authorize verify":   authorize(visa, func(r *acquirer.Authorize) { r.Amount = 0 }),
		"authorize yen":      authorize(visa, func(r *acquirer.Authorize) { r.Currency = "jpy" }),
		"authorize dinar":    authorize(visa, func(r *acquirer.Authorize) { r.Currency = "jod" }),
		"authorize token":    authorize(token, func(*acquirer.Authorize) {}),
		"authorize bank":     authorize(bank, func(r *acquirer.Authorize) { r.Capture = true }),
		"authorize prior":    authorize(visa, func(r *acquirer.Authorize) { r.Capture, r.PriorCode = true, "A1B2C3" }),
		"authorize visa3ds":  authorize(visa, secure("06")),
		"authorize mc3ds":    authorize(mastercard, secure("02")),
		"authorize mc3ds1":   authorize(mastercard, secure("01")),
		"authorize visa3ds7": authorize(visa, secure("07")),
		"authorize first":    authorize(visa, initiated(acquirer.Initiator{Type: "customer", Reason: "recurring"})),
		"authorize used":     authorize(visa, initiated(acquirer.Initiator{Type: "customer"})),
		"authorize recurring": authorize(visa, initiated(acquirer.Initiator{
			Type: "merchant", Reason: "recurring", PreviousNetworkTransactionID: "016150703802094",
		})),
		"authorize noshow": authorize(visa, initiated(acquirer.Initiator{Type: "merchant", Reason: "no_show"})),
		"authorize order":  authorize(visa, ordered),
	}
}

// ordered gives a payment all data of a payer and an order.
func ordered(r *acquirer.Authorize) {
	r.Billing = acquirer.Billing{
		FirstName: "Ana", LastName: "Lopez", Company: "Lopez Ltd", AddressLine: "1 Main St", AddressLine2: "Flat 2",
		City: "Austin", State: "TX", PostalCode: "73301", Country: "US", Email: "ana@example.com", Phone: "+15125550100",
	}
	r.Order = acquirer.Order{
		Reference: strings.Repeat("é", 40), Description: "Two mugs", StatementDescriptor: "LOPEZ MUGS",
		Details: []byte(`{"tax_amount":70,"duty_amount":1,"shipping_amount":30,"discount_amount":5,` +
			`"purchase_order_number":"PO 5","tax_exempt":true,"line_items":[` +
			`{"id":"mug","name":"Mug","description":"Blue","quantity":"2.00","unit_price":"4.1234"},` +
			`{"name":"Tea","quantity":"0.5","unit_price":"9"}]}`),
	}
}

// steps are the commands that follow a payment, and credits.
func steps() map[string]any {
	original := acquirer.Sent{Kind: acquirer.Authorization, ID: "7345678901236789404951", Amount: 10221, Currency: "usd"}
	first := acquirer.Sent{Kind: acquirer.Capture, ID: "7345678906236789904951", Amount: 3000, Currency: "usd"}
	second := acquirer.Sent{Kind: acquirer.Capture, ID: "7345678907236789904951", Amount: 5000, Currency: "usd"}
	follow := func(amount int64, final bool, captures ...acquirer.Sent) acquirer.Follow {
		return acquirer.Follow{
			Reference: "cap_01jd8m3k2q4r6", Original: original, Captures: captures, Amount: amount, Currency: "usd",
			Final: final,
		}
	}
	payee := commands()["authorize"].(acquirer.Authorize).Source
	bank := commands()["authorize bank"].(acquirer.Authorize).Source
	sale, late, nameless := follow(1000, false), follow(3000, false), first
	sale.Original.Kind, late.Original, nameless.ID = acquirer.Sale, first, ""
	sent := acquirer.Sent{Reference: "txn_01jd8m3k2q4r5", Amount: 10221, Currency: "usd"}
	return map[string]any{
		"capture":         follow(10221, true),
		"capture part":    follow(3000, false),
		"capture second":  follow(5000, false, first),
		"capture last":    follow(2221, true, first, second),
		"refund sale":     sale,
		"refund one":      follow(2000, false, first),
		"refund late":     late,
		"refund nameless": follow(2000, false, nameless),
		"reversal":        follow(10221, false),
		"void":            follow(10221, false),
		"credit":          acquirer.Credit{Reference: "re_01jd8m3k2q4r7", Amount: 640, Currency: "usd", Source: payee},
		"credit bank":     acquirer.Credit{Reference: "re_01jd8m3k2q4r7", Amount: 640, Currency: "usd", Source: bank},
		"reversal byname": sent,
		"void byname":     sent,
	}
}

// TestEncode compares each command with testdata/encode.
func TestEncode(t *testing.T) {
	t.Parallel()
	all := commands()
	maps.Copy(all, steps())
	for name, command := range all {
		kind, _, _ := strings.Cut(name, " ")
		path, body, err := providerb.Encode(kind, command)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := json.Marshal(struct {
			Path string         `json:"path"`
			Body jsontext.Value `json:"body"`
		}{path, body}, jsontext.WithIndent("  "))
		if err != nil {
			t.Fatal(err)
		}
		file := "testdata/encode/" + strings.ReplaceAll(name, " ", "-") + ".json"
		text = append(text, '\n')
		if *update {
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || string(want) != string(text) {
			t.Errorf("%s: got %s, want %s (%v)", name, text, want, err)
		}
	}
}

// TestEncodeRefuses: a command that the provider cannot understand is not sent.
func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	r := commands()["authorize"].(acquirer.Authorize)
	currency, details := r, r
	currency.Currency = "xxx"
	details.Order.Details = []byte(`{"line_items":1}`)
	f := steps()["capture"].(acquirer.Follow)
	none, path := f, f
	none.Original.ID = ""
	path.Original.ID = "1/../2"
	for name, command := range map[string]any{
		"currency": currency, "details": details, "no id": none, "id that is a path": path,
		"credit": acquirer.Credit{Currency: "xxx"}, "timeout": acquirer.Sent{Currency: "xxx"},
	} {
		kind := map[bool]string{true: "capture", false: "reversal"}[name != "timeout"]
		if got, _, err := providerb.Encode(kind, command); err == nil {
			t.Errorf("%s: got %s, want an error", name, got)
		}
	}
}

// TestTransactionID: equal references have equal names, others have others, and all fit the field.
func TestTransactionID(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, reference := range []string{"txn_1", "txn_2", "txn_1_2", "", strings.Repeat("r", 100)} {
		name := providerb.TransactionID(reference)
		if len(name) > 30 || name != providerb.TransactionID(reference) || seen[name] != "" {
			t.Errorf("%q: got %q, as %q", reference, name, seen[name])
		}
		seen[name] = reference + "."
	}
}

// TestCardNumbersDoNotPrint: an error of a command has nothing of its source.
func TestCardNumbersDoNotPrint(t *testing.T) {
	t.Parallel()
	r := commands()["authorize"].(acquirer.Authorize)
	r.Currency = "xxx"
	_, err := newScripted(t).Authorize(t.Context(), r)
	if !errors.Is(err, acquirer.ErrUnavailable) || strings.Contains(err.Error(), "1111") {
		t.Errorf("got %v", err)
	}
}
