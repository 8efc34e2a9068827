package prism_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The commands of the payments.
const (
	authorize = "authorize"
	sale      = "sale"
	capture   = "capture"
	void      = "void"
	refund    = "refund"
)

// payment is a command of one payment.
type payment struct {
	command   string
	authorize acquirer.Authorize // of authorize and sale
	follow    acquirer.Follow    // of the others
	bank      bool               // the source of the followed payment is a bank account
	order     details            // of authorize and sale
}

// details are the level 2 and 3 data of a payment.
type details struct {
	given                           bool
	purchaseOrder                   string
	tax, duty, shipping, discount   int64
	exempt                          bool
	item, description, id, quantity string
	unitPrice                       int64
}

// drawer draws payments.
type drawer struct{ *rand.Rand }

// seed and many are the seed and the number of the payments.
const seed, many = 19, 200

// payments draws the payments.
func payments() []payment {
	d := drawer{rand.New(rand.NewPCG(seed, 0))}
	commands := []string{
		authorize, authorize, authorize, authorize, sale, sale, sale, sale, capture, void, refund,
	}
	var out []payment
	for i := range many {
		p := payment{command: pick(d, commands...)}
		switch p.command {
		case authorize, sale:
			p.authorize, p.order = d.payment(i, p.command == sale)
		default:
			p.follow, p.bank = d.follow(i, p.command)
		}
		out = append(out, p)
	}
	return out
}

func pick[T any](d drawer, from ...T) T { return from[d.IntN(len(from))] }

// of reports true in a percentage of cases.
func (d drawer) of(percent int) bool { return d.IntN(100) < percent }

func (d drawer) money() (amount int64, currency string) {
	currency = pick(d, "usd", "usd", "usd", "eur", "gbp", "cad", "jpy", "krw", "kwd", "jod")
	return 1 + d.Int64N(pick(d, int64(99), 9999, 9999999)), currency
}

func (d drawer) payment(i int, taken bool) (acquirer.Authorize, details) {
	r := acquirer.Authorize{Reference: fmt.Sprintf("txn_%013d", i), Capture: taken, Partial: d.of(20)}
	r.Amount, r.Currency = d.money()
	switch {
	case taken && d.of(30):
		r.Source, r.Currency, r.Partial = d.bank(), "usd", false
	case d.of(15):
		r.Source = d.token()
	default:
		r.Source = d.card()
		d.consent(&r)
	}
	if d.of(92) {
		r.Billing = d.billing()
	}
	var extra details
	if d.of(40) {
		r.Order = acquirer.Order{
			Reference:   pick(d, "", "order 77", "A-2041/7", strings.Repeat("R", 30)),
			Description: pick(d, "", "Two mugs", strings.Repeat("mug ", 80)), StatementDescriptor: pick(d, "", "RUIZ MUGS"),
		}
	}
	if d.of(25) {
		extra = d.details()
		r.Order.Details = []byte(extra.json())
	}
	return r, extra
}

func (d drawer) card() acquirer.Source {
	c := acquirer.Card{
		Number: secret.New(pick(d, "4111111111111111", "5555555555554444", "2223000048400011", "378282246310005",
			"6011111111111117", "30569309025904", "3530111333300000")),
		ExpMonth: 1 + d.IntN(12), ExpYear: 2030 + d.IntN(9),
	}
	if d.of(95) {
		c.CVC = secret.New(pick(d, "900", "012", "1234"))
	}
	return acquirer.Source{Card: c}
}

func (d drawer) token() acquirer.Source {
	t := acquirer.NetworkToken{
		Number:   secret.New(pick(d, "4895370012003478", "5204245250001488")),
		ExpMonth: 1 + d.IntN(12), ExpYear: 2030, RequestorID: pick(d, "", "40010030273"),
	}
	if d.of(70) {
		t.Cryptogram, t.ECI = secret.New("AgAAAAAABk4DWZ4C28yUQAAAAAA="), pick(d, "05", "07")
	}
	return acquirer.Source{NetworkToken: t}
}

func (d drawer) bank() acquirer.Source {
	return acquirer.Source{BankAccount: acquirer.BankAccount{
		Number: secret.New("000123456789"), RoutingNumber: "244183602",
		Type: pick(d, "checking", "savings", "business_checking"), Holder: pick(d, "Ana Ruiz", "Ana Maria Ruiz Gonzalez"),
	}}
}

// consent draws an authentication of the cardholder or a stored credential.
func (d drawer) consent(r *acquirer.Authorize) {
	switch n := d.IntN(100); {
	case n < 35:
		r.ThreeDSecure = acquirer.ThreeDSecure{
			ECI: pick(d, "05", "06", "07"), CAVV: secret.New("jJ81HADVRtXfCBATEp01CJUAAAA="),
			DSTransactionID: "f25084f0-5b16-4c0a-ae5d-b24808a95e4b", Version: "2.2.0",
		}
		if number := r.Card.Number.Reveal(); number[0] == '5' || number[0] == '2' {
			r.ThreeDSecure.ECI = pick(d, "02", "01", "00")
		}
	case n < 50:
		r.Initiator = acquirer.Initiator{
			Type: "customer", Reason: pick(d, "", "recurring", "installment", "unscheduled"),
		}
	case n < 75:
		r.Card.CVC = secret.String{}
		r.Initiator = acquirer.Initiator{
			Type: "merchant",
			Reason: pick(
				d, "recurring", "installment", "unscheduled", "resubmission", "no_show", "delayed_charge"),
			PreviousNetworkTransactionID: pick(d, "016150703802094", "016150703802094", ""),
		}
	}
}

func (d drawer) billing() acquirer.Billing {
	b := acquirer.Billing{PostalCode: "98004", Country: "US", Email: "ana@example.org"}
	if d.of(8) {
		return acquirer.Billing{PostalCode: "98004"}
	}
	if d.of(90) {
		b.FirstName, b.LastName, b.AddressLine = pick(d, "Ana", "Åna"), pick(d, "Ruiz", "Ruiz & Söhne"), "1 Elm St"
		b.City, b.State = "Seattle", pick(d, "WA", "Washington")
	}
	if b.AddressLine != "" && d.of(30) {
		b.AddressLine2 = pick(d, "Flat 2", strings.Repeat("Building ", 9)+"9")
	}
	if d.of(20) {
		b.PostalCode, b.Country, b.State, b.City = "SW1A 1AA", "GB", "", "London"
	}
	if d.of(30) {
		b.Company, b.Phone = "Ruiz <Ltd>", "+12065550100"
	}
	return b
}

func (d drawer) details() details {
	return details{
		given: true, purchaseOrder: "PO-1", tax: d.Int64N(500), duty: d.Int64N(50), shipping: d.Int64N(900),
		discount: d.Int64N(90), exempt: d.of(20), item: "Mug", description: "Blue", id: "sku-1", quantity: "2",
		unitPrice: 100 + d.Int64N(900),
	}
}

// json returns the details in the form of v1.
func (d details) json() string {
	return fmt.Sprintf(`{"purchase_order_number":%q,"tax_amount":%d,"tax_exempt":%t,"duty_amount":%d,`+
		`"shipping_amount":%d,"discount_amount":%d,"line_items":[{"id":%q,"name":%q,"description":%q,"quantity":%q,`+
		`"unit_price":"%d.%02d"}]}`, d.purchaseOrder, d.tax, d.exempt, d.duty, d.shipping, d.discount, d.id, d.item,
		d.description, d.quantity, d.unitPrice/100, d.unitPrice%100)
}

// original is the number of a followed payment, which both providers accept.
const original = "60410000130"

func (d drawer) follow(i int, command string) (acquirer.Follow, bool) {
	f := acquirer.Follow{Reference: fmt.Sprintf("%.3s_%013d", command, i), Last4: "1111"}
	f.Original = acquirer.Sent{Kind: acquirer.Authorization, ID: original, Reference: "txn_0000000000001"}
	f.Original.Amount, f.Original.Currency = d.money()
	f.Amount, f.Currency = f.Original.Amount, f.Original.Currency
	earlier := f.Original
	earlier.Kind, earlier.ID = acquirer.Capture, "60410000131"
	bank := false
	switch command {
	case capture:
		f.Amount, f.Final = 1+d.Int64N(f.Amount), d.of(60)
		if d.of(30) {
			f.Captures = []acquirer.Sent{earlier}
		}
	case void:
		f.Reference += "_" + f.Original.Reference
		if d.of(40) {
			f.Captures = []acquirer.Sent{earlier}
		}
	case refund:
		f.Amount = 1 + d.Int64N(f.Amount)
		if d.of(50) {
			f.Captures = []acquirer.Sent{earlier}
		} else {
			f.Original.Kind = acquirer.Sale
		}
		if bank = d.of(20); bank {
			f.Original.Kind, f.Captures, f.Last4, f.Currency = acquirer.Sale, nil, "6789", "usd"
		}
	}
	return f, bank
}
