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

// setting is what decoding depends on besides the request.
type setting struct {
	// currency is that of amounts which name none.
	currency string
	// steps allows a payment in two steps, with a look at the issuer's checks in between.
	steps bool
}

// plan is what a payment request comes to: a v1 payment, or a problem that answers it without asking v1.
type plan struct {
	Problem problem
	Body    v1.TransactionCreate
	// Sale is set when the money is to be taken, Steps when it is to be taken only after a look at the checks.
	Sale, Steps bool
	Review      review
	// Store is set when what was paid with is to be kept.
	Store bool
	Echo  echo
}

// echo is what the answer repeats of the request.
type echo struct {
	Code, TransactionID string
	Currency            string // as the client wrote it
	CardType            string // as the client wrote it, else by the number; "" for neither
	Tokenized, Bank     bool
	Customer, Method    string // ids as the client wrote them
	Identifier          string
}

// decoder holds what decoding one payment needs.
type decoder struct {
	req *wire.Request
	set setting
}

// decode turns a payment request into a plan. It is pure.
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
	p.Sale = d.takes()
	p.Body = v1.TransactionCreate{Amount: amount, Currency: currency.Code, Capture: &mode}
	if bad := d.source(&p.Body, currency); !bad.none() {
		return bad
	}
	if p.Store {
		if bad := d.storable(&p.Body); !bad.none() {
			return bad
		}
	}
	p.Sale = p.Sale || p.Body.BankAccount != nil
	if amount == 0 && p.Sale {
		return invalid(fieldTotal)
	}
	if p.Steps = p.Sale && d.set.steps && d.reviewed(p); p.Sale && !p.Steps {
		mode = v1.CaptureModeAutomatic
	}
	if bad := d.consent(&p.Body); !bad.none() {
		return bad
	}
	if bad := d.details(&p.Body, currency); !bad.none() {
		return bad
	}
	if p.Steps {
		markSale(&p.Body)
	}
	return problem{}
}

// markSale has a payment that is captured in a step of its own known for a sale, which may be reversed until it settles.
func markSale(body *v1.TransactionCreate) {
	if body.Metadata == nil {
		body.Metadata = &v1.Metadata{}
	}
	(*body.Metadata)[command.SaleKey] = command.SaleMark
}

// takes reports whether the money is to be taken and not only held.
func (d *decoder) takes() bool {
	return bool(d.req.Processing.Capture) || strings.EqualFold(string(d.req.Processing.AuthorizationOptions.AuthType), "AUTOCAPTURE")
}

// reviewed reports whether anything is given by which the payment could be held. What was approved by telephone never is.
func (d *decoder) reviewed(p *plan) bool {
	billTo := &d.req.Order.BillTo
	address := billTo.Address1 != "" || billTo.PostalCode != ""
	code := p.Body.CardCvc != nil || p.Body.Card != nil && p.Body.Card.Cvc != nil
	return p.Body.BankAccount == nil && d.req.Processing.AuthorizationOptions.VerbalAuthCode == "" &&
		(address && !p.Review.IgnoreAVS || code && !p.Review.IgnoreCV)
}

// references judges the client's names for the request.
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

// Actions that are taken, and those that ask for something which never happens here anyway.
var (
	actionStore    = "TOKEN_CREATE"
	actionsIgnored = []string{"DECISION_SKIP", "WATCHLIST_SKIP", ""}
)

// actions refuses what the payment is to be made with and v1 has nothing for.
func (d *decoder) actions() problem {
	for _, a := range d.req.Processing.ActionList {
		action := strings.ToUpper(string(a))
		if action != actionStore && !slices.Contains(actionsIgnored, action) {
			return unsupported(fieldActions)
		}
	}
	return problem{}
}

// stores reports whether what is paid with is to be kept.
func (d *decoder) stores() bool {
	return slices.ContainsFunc(d.req.Processing.ActionList, func(a wire.Text) bool { return strings.EqualFold(string(a), actionStore) })
}

// echo collects what every answer repeats.
func (d *decoder) echo() echo {
	pay := &d.req.Payment
	e := echo{
		Code: string(d.req.ClientReference.Code), TransactionID: string(d.req.ClientReference.TransactionID),
		Currency: string(d.req.Order.AmountDetails.Currency), Customer: string(pay.Customer.ID), Method: string(pay.PaymentInstrument.ID),
		Identifier: string(pay.InstrumentIdentifier.ID),
		Tokenized:  !pay.TokenizedCard.Number.IsZero(), Bank: !pay.Bank.Account.Number.IsZero(),
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
