package providerb

import (
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/card"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// setting holds the inputs of decoding besides the request.
type setting struct {
	// currency is the default for amounts without one.
	currency string
	// twoStep allows a capture in a second step, after a review of the issuer's checks.
	twoStep bool
}

// plan is a decoded payment request: a v1 payment, or a problem that decides the response without
// v1.
type plan struct {
	Problem problem
	Body    v1.TransactionCreate
	// Sale is set if the payment is captured too. TwoStep is set if that happens only after the
	// review.
	Sale, TwoStep bool
	Review        review
	// Store is set if the payment source is stored, for the customer of Body if it has one.
	Store bool
	// ShipTo is the id of the customer's address to which the payment is shipped.
	ShipTo string
	Echo   echo
}

// echo holds the values of the request that the response repeats.
type echo struct {
	Code, TransactionID string
	Currency            string // in the client's spelling
	CardType            string // in the client's spelling, or else derived from the number; "" if unknown
	Tokenized, Bank     bool
	Customer, Method    string // ids in the client's spelling
	Identifier, Address string
	Terminal            string
}

// decoder holds the inputs of decoding one payment.
type decoder struct {
	req *wire.Request
	set setting
}

// decode converts a payment request to a plan. It is pure.
func decode(req *wire.Request, set setting) plan {
	d := &decoder{req: req, set: set}
	p := plan{Echo: d.echo(), Review: reviewOf(&req.Processing.AuthorizationOptions), Store: d.stores()}
	p.Problem = d.payment(&p)
	return p
}

const (
	maxCode          = 50
	maxTransactionID = 30
)

func (d *decoder) payment(p *plan) problem {
	if bad := d.references(); !bad.none() {
		return bad
	}
	if bad := d.actions(); !bad.none() {
		return bad
	}
	currency, bad := currencyOf(d.req.Order.AmountDetails.Currency, d.set.currency)
	if !bad.none() {
		return bad
	}
	amount, bad := total(&d.req.Order, currency)
	if !bad.none() {
		return bad
	}
	if p.Echo.Currency == "" {
		p.Echo.Currency = strings.ToUpper(currency.Code)
	}
	mode := v1.CaptureModeManual
	p.Sale = d.isSale()
	p.Body = v1.TransactionCreate{Amount: amount, Currency: currency.Code, Capture: &mode}
	if bad := d.source(&p.Body, currency); !bad.none() {
		return bad
	}
	if bad := d.store(p); !bad.none() {
		return bad
	}
	p.Sale = p.Sale || p.Body.BankAccount != nil
	if amount == 0 && p.Sale {
		return invalid(fieldTotal)
	}
	if p.TwoStep = p.Sale && d.set.twoStep && d.reviewed(p); p.Sale && !p.TwoStep {
		mode = v1.CaptureModeAutomatic
	}
	if bad := d.consent(&p.Body); !bad.none() {
		return bad
	}
	if bad := d.details(&p.Body, currency); !bad.none() {
		return bad
	}
	if p.TwoStep {
		markSale(&p.Body)
	}
	return d.storedAddress(p)
}

// markSale marks a payment that is captured in a second step as a sale, which can be reversed until
// it settles.
func markSale(body *v1.TransactionCreate) {
	if body.Metadata == nil {
		body.Metadata = &v1.Metadata{}
	}
	(*body.Metadata)[command.SaleKey] = command.SaleMark
}

// isSale reports whether the payment is captured too, and not only authorized.
func (d *decoder) isSale() bool {
	return bool(d.req.Processing.Capture) ||
		strings.EqualFold(string(d.req.Processing.AuthorizationOptions.AuthType), "AUTOCAPTURE")
}

// reviewed reports whether the request has data because of which the payment could be held. A
// payment with a verbal authorization is never held.
func (d *decoder) reviewed(p *plan) bool {
	billTo := &d.req.Order.BillTo
	address := billTo.Address1 != "" || billTo.PostalCode != ""
	code := p.Body.CardCvc != nil || p.Body.Card != nil && p.Body.Card.Cvc != nil
	return p.Body.BankAccount == nil && d.req.Processing.AuthorizationOptions.VerbalAuthCode == "" &&
		(address && !p.Review.IgnoreAVS || code && !p.Review.IgnoreCV)
}

// references checks the client's references of the request.
func (d *decoder) references() problem {
	switch ref := &d.req.ClientReference; {
	case len([]rune(string(ref.Code))) > maxCode:
		return invalid("clientReferenceInformation.code")
	case len(ref.TransactionID) > maxTransactionID:
		return invalid("clientReferenceInformation.transactionId")
	}
	return problem{}
}

const fieldActions = "processingInformation.actionList"

// The supported action, and the actions that have no effect here.
var (
	actionStore    = "TOKEN_CREATE"
	actionsIgnored = []string{"DECISION", "DECISION_SKIP", "WATCHLIST_SKIP", ""}
)

// actions refuses an action that v1 cannot do.
func (d *decoder) actions() problem {
	for _, a := range d.req.Processing.ActionList {
		action := strings.ToUpper(string(a))
		if action != actionStore && !slices.Contains(actionsIgnored, action) {
			return unsupported(fieldActions)
		}
	}
	return problem{}
}

// stores reports whether the payment source is stored.
func (d *decoder) stores() bool {
	return slices.ContainsFunc(d.req.Processing.ActionList,
		func(a wire.Text) bool { return strings.EqualFold(string(a), actionStore) })
}

// echo collects the values that every response repeats.
func (d *decoder) echo() echo {
	pay := &d.req.Payment
	e := echo{
		Code: string(d.req.ClientReference.Code), TransactionID: string(d.req.ClientReference.TransactionID),
		Currency: string(d.req.Order.AmountDetails.Currency), Customer: string(pay.Customer.ID),
		Method: string(pay.PaymentInstrument.ID), Identifier: string(pay.InstrumentIdentifier.ID),
		Address: string(pay.ShippingAddress.ID), Terminal: string(d.req.PointOfSale.TerminalID),
		Tokenized: !pay.TokenizedCard.Number.IsZero(), Bank: !pay.Bank.Account.Number.IsZero(),
	}
	number, given := pay.Card.Number.String, pay.Card.Type
	if e.Tokenized {
		number, given = pay.TokenizedCard.Number.String, pay.TokenizedCard.Type
	}
	if e.CardType = typeCodes[card.BrandOf(number)]; len(given) == 3 && chars.Digits(string(given)) {
		e.CardType = string(given)
	}
	return e
}
