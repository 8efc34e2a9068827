package providera

import (
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// decodeType turns the transaction of one type into its command.
type decodeType func(d *decoder) (command.Command, problem)

// transactionTypes is every type of the dialect. One that is not here is E00060.
var transactionTypes = map[string]decodeType{
	typeSale:                         (*decoder).authorize,
	typeAuthorize:                    (*decoder).authorize,
	typeCapture:                      (*decoder).capture,
	typeVoid:                         (*decoder).void,
	typeRefund:                       (*decoder).refund,
	typeForced:                       (*decoder).authorize,
	"getDetailsTransaction":          notAccepted,
	"authOnlyContinueTransaction":    notAccepted,
	"authCaptureContinueTransaction": notAccepted,
}

// creating are the types that make a new transaction of no other. A reference means nothing to them.
var creating = map[string]bool{typeSale: true, typeAuthorize: true, typeForced: true}

// decoder holds what decoding one createTransactionRequest needs.
type decoder struct {
	txn   *wire.Node // transactionRequest
	login string     // the name of the caller
	refID string
	set   setting
	echo  echo
}

// decode turns a createTransactionRequest into a plan. It is pure.
func decode(req *wire.Request, set setting) plan {
	d := &decoder{
		txn: req.Root.Child("transactionRequest"), login: req.Root.Child("merchantAuthentication").Get("name"), set: set,
	}
	if req.RefID != nil {
		d.refID = strings.TrimSpace(*req.RefID)
	}
	p := plan{Type: d.txn.Get("transactionType")}
	d.repeat()
	build, known := transactionTypes[p.Type]
	if !known {
		p.Problem = refuse(apiType)
	} else if c, refusal := build(d); refusal.none() {
		p.Commands = []command.Command{c}
	} else {
		p.Problem = refusal
	}
	p.Echo = d.echo
	if p.Problem.none() && (p.Type == typeSale || p.Type == typeAuthorize) && d.creates() {
		create, refusal := d.newProfile()
		p.Wish = &wish{Create: create, Problem: refusal}
	}
	return p
}

// repeat collects what every answer repeats, refusals included.
func (d *decoder) repeat() {
	if !creating[d.txn.Get("transactionType")] {
		d.echo.Reference = d.reference()
	}
	d.echo.Test = truth(d.setting("testRequest"))
	payment := d.txn.Child("payment")
	number := payment.Get("creditCard", "cardNumber")
	if data := payment.Child("trackData"); data != nil {
		number, _, _ = track(data)
	}
	d.echo.Account = masked(lastFour(number))
	if a, taken := brandOf(secret.New(number)); taken {
		d.echo.AccountType = a.name
	}
	if bank := payment.Child("bankAccount"); bank != nil {
		d.echo.Account, d.echo.AccountType = maskedAccount(bank.Get("accountNumber"), d.txn.Get("transactionType") != typeRefund), checkAccount
	}
	for _, f := range d.txn.Child("userFields").All("userField") {
		d.echo.UserFields = append(d.echo.UserFields, field{Name: text(f.Child("name")), Value: text(f.Child("value"))})
	}
}

func notAccepted(*decoder) (command.Command, problem) { return nil, because(reasonNotAccepted) }

func (d *decoder) authorize() (command.Command, problem) {
	if p := d.payment(); !p.none() {
		return nil, p
	}
	currency, p := d.currency()
	if !p.none() {
		return nil, p
	}
	amount, p := d.authorizeAmount(currency)
	if !p.none() {
		return nil, p
	}
	mode := v1.CaptureModeAutomatic
	if d.txn.Get("transactionType") == typeAuthorize {
		mode = v1.CaptureModeManual
	}
	body := v1.TransactionCreate{Amount: amount, Currency: currency.Code, Capture: &mode}
	if p := d.source(&body); !p.none() {
		return nil, p
	}
	if p := d.consent(&body); !p.none() {
		return nil, p
	}
	if p := d.details(&body, currency); !p.none() {
		return nil, p
	}
	first, p := d.join(&body)
	if !p.none() {
		return nil, p
	}
	c := command.Authorize{Body: body, Joins: first, ShipToCustomer: d.echo.Profile.Address != "", Once: d.once()}
	if body.Customer != nil {
		c.Takes = brandsTaken
	}
	return c, problem{}
}

// currency is that of an amount which names no payment.
func (d *decoder) currency() (money.Currency, problem) {
	code, p := currencyOf(d.txn)
	if !p.none() {
		return money.Currency{}, p
	}
	if code == "" {
		code = d.set.currency
	}
	currency, known := money.Lookup(code)
	if !known {
		return money.Currency{}, because(reasonCurrency)
	}
	return currency, problem{}
}

// authorizeAmount reads the amount of a new payment. Zero is a card verification, which only an authorization may ask for.
func (d *decoder) authorizeAmount(c money.Currency) (int64, problem) {
	n := d.txn.Child("amount")
	if !n.Has() {
		return 0, because(reasonAmount)
	}
	amount, p := minorAmount(n.Get(), c)
	switch {
	case !p.none():
		return 0, p
	case amount == 0 && d.txn.Get("transactionType") != typeAuthorize:
		return 0, because(reasonAmount)
	}
	return amount, problem{}
}

func (d *decoder) capture() (command.Command, problem) {
	target, p := d.target()
	if !p.none() {
		return nil, p
	}
	amount, p := decimalAmount(d.txn.Child("amount"))
	if !p.none() {
		return nil, p
	}
	currency, p := currencyOf(d.txn)
	if !p.none() {
		return nil, p
	}
	return command.Capture{
		Target: target, Amount: amount, Final: true, Reference: d.txn.Get("order", "invoiceNumber"),
		Metadata: d.ownMetadata(), Require: command.Require{Currency: currency},
	}, problem{}
}

func (d *decoder) void() (command.Command, problem) {
	if first, p := d.splitTender(); first != "" || !p.none() {
		return command.VoidGroup{First: first}, p
	}
	target, p := d.target()
	if !p.none() {
		return nil, p
	}
	return command.Void{Target: target}, problem{}
}

func (d *decoder) refund() (command.Command, problem) {
	if !d.references() && d.set.unlinked && d.payable() {
		return d.credit()
	}
	target, p := d.target()
	if !p.none() {
		return nil, p
	}
	if p := d.payment(); !p.none() {
		return nil, p
	}
	amount, p := decimalAmount(d.txn.Child("amount"))
	switch {
	case !p.none():
		return nil, p
	case amount == "":
		return nil, because(reasonAmount)
	}
	currency, p := currencyOf(d.txn)
	if !p.none() {
		return nil, p
	}
	if ids, named := d.stored(); named {
		return d.refundProfile(target, amount, currency, ids)
	}
	require, expiry, p := d.refunded()
	if !p.none() {
		return nil, p
	}
	require.Settled, require.Currency = true, currency
	return command.Refund{
		Target: target, Amount: amount, Reference: d.txn.Get("order", "invoiceNumber"), Metadata: d.ownMetadata(),
		Require: require, Once: d.once(expiry),
	}, problem{}
}

// references reports whether a refund has the place for a payment that it is of, be it empty: who left it so has lost a number, and money
// that leaves without one comes back to nobody's account.
func (d *decoder) references() bool {
	return d.txn.Child("refTransId") != nil || d.txn.Child("splitTenderId") != nil
}

// reference is the number of the transaction that the request is on, trimmed.
func (d *decoder) reference() string { return d.txn.Get("refTransId") }

// target is the referenced transaction's number.
func (d *decoder) target() (command.Number, problem) {
	switch ref := d.reference(); {
	case ref == "":
		return "", because(reasonBlank)
	case !chars.Digits(ref):
		return "", because(reasonReferenceInvalid)
	default:
		return number(ref), problem{}
	}
}

// number is a transaction's, without the zeros that some clients fill numbers up with.
func number(given string) command.Number { return command.Number(unfilled(given)) }

// unfilled is a number as answers write it. One of zeros alone is nobody's, which is not the same as none.
func unfilled(given string) string {
	if n := strings.TrimLeft(given, "0"); n != "" || given == "" {
		return n
	}
	return noID
}

// setting is the value of a transaction setting, "" when it is not given. Names the dialect does not know are ignored.
func (d *decoder) setting(name string) string {
	for _, s := range d.txn.Child("transactionSettings").All("setting") {
		if s.Get("settingName") == name {
			return s.Get("settingValue")
		}
	}
	return ""
}

// truth reads the booleans clients send.
func truth(s string) bool { return s == "1" || strings.EqualFold(s, "true") }

// text is a node's text as it was sent.
func text(n *wire.Node) string {
	if n == nil {
		return ""
	}
	return n.Text
}
