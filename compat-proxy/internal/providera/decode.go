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

// decodeType converts a transaction of one type to its command.
type decodeType func(d *decoder) (command.Command, problem)

// transactionTypes are all types of the dialect. Any other is E00060.
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

// creating are the types that make a new transaction. They ignore a reference.
var creating = map[string]bool{typeSale: true, typeAuthorize: true, typeForced: true}

// decoder holds the state of decoding one transaction.
type decoder struct {
	txn   wire.Node // transactionRequest
	login string    // the caller's login name
	refID string
	basis basis
	echo  echo
	held  bool // see plan.Held
}

// decode converts a createTransactionRequest to a plan. It is pure.
func decode(req *wire.Request, basis basis) plan {
	d := newDecoder(req, req.Root.Child("transactionRequest"), basis)
	p := plan{Type: d.txn.Get("transactionType")}
	d.collectEcho()
	build, known := transactionTypes[p.Type]
	if !known {
		p.Problem = refuse(apiType)
	} else if c, refusal := build(d); refusal.none() {
		p.Command = c
	} else {
		p.Problem = refusal
	}
	p.Echo, p.Held, p.Hash = d.echo, d.held, d.transHash()
	if p.Problem.none() && (p.Type == typeSale || p.Type == typeAuthorize) && d.creates() {
		request := d.newProfile()
		p.NewProfile = &request
	}
	return p
}

// newDecoder returns a decoder of a transaction in a request.
func newDecoder(req *wire.Request, txn wire.Node, basis basis) *decoder {
	d := &decoder{txn: txn, login: req.Root.Child("merchantAuthentication").Get("name"), basis: basis}
	if req.RefID != nil && !basis.named { // v1 would compare it, and retries have new ones
		d.refID = strings.TrimSpace(*req.RefID)
	}
	return d
}

// collectEcho collects the values that every response repeats, refusals included.
func (d *decoder) collectEcho() {
	if !creating[d.txn.Get("transactionType")] {
		d.echo.Reference = d.reference()
	}
	d.echo.Test = isTrue(d.setting("testRequest"))
	payment := d.txn.Child("payment")
	number := payment.Get("creditCard", "cardNumber")
	if data := payment.Child("trackData"); data.Present() {
		number, _, _ = track(data)
	}
	d.echo.Account = masked(lastFour(number))
	if a, taken := brandOf(secret.New(number)); taken {
		d.echo.AccountType = a.name
	}
	if bank := payment.Child("bankAccount"); bank.Present() {
		d.echo.Account = maskedAccount(accountNumber(bank), d.txn.Get("transactionType") != typeRefund)
		d.echo.AccountType = checkAccount
	}
	for _, f := range d.txn.Child("userFields").All("userField") {
		d.echo.UserFields = append(d.echo.UserFields, field{Name: f.Child("name").Text(), Value: f.Child("value").Text()})
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
	first, p := d.joinOrder(&body)
	if !p.none() {
		return nil, p
	}
	address, _ := d.echo.Profile.shipTo() // checked by profile
	c := command.Authorize{Body: body, Joins: first, ShipTo: address, Deduplication: d.deduplication()}
	if body.Customer != nil {
		c.AcceptedBrands = acceptedBrands
	}
	return c, problem{}
}

// currency returns the currency of a request without a referenced payment.
func (d *decoder) currency() (money.Currency, problem) {
	code, p := currencyOf(d.txn)
	if !p.none() {
		return money.Currency{}, p
	}
	if code == "" {
		code = d.basis.currency
	}
	currency, known := money.Lookup(code)
	if !known {
		return money.Currency{}, because(reasonCurrency)
	}
	return currency, problem{}
}

// authorizeAmount reads the amount of a new payment. Zero makes an authorization a card
// verification, and is invalid for other types.
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
	if !d.namesPayment() && d.basis.unlinked && d.payable() {
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
	if ids, named := d.namedProfile(); named {
		return d.refundProfile(target, amount, currency, ids)
	}
	require, expiry, p := d.refunded()
	if !p.none() {
		return nil, p
	}
	require.Settled, require.Currency = true, currency
	return command.Refund{
		Target: target, Amount: amount, Reference: d.txn.Get("order", "invoiceNumber"), Metadata: d.ownMetadata(),
		Require: require, Deduplication: d.deduplication(expiry),
	}, problem{}
}

// namesPayment reports whether a refund has an element for its payment. A blank one shows that the
// client has lost the number, so the refund must not become an unlinked one. An empty refTransId
// does not, because common clients always send it.
func (d *decoder) namesPayment() bool {
	return d.txn.Child("refTransId").Text() != "" || d.txn.Child("splitTenderId").Present()
}

// reference returns the trimmed number of the referenced transaction.
func (d *decoder) reference() string { return d.txn.Get("refTransId") }

// target returns the number of the referenced transaction, or the problem.
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

// number returns the number of a transaction without the leading zeros that some clients send.
func number(given string) command.Number { return command.Number(withoutZeros(given)) }

// withoutZeros returns a number as responses write it. Zeros alone become "0", which is the number
// of no transaction, but not a missing number.
func withoutZeros(given string) string {
	if n := strings.TrimLeft(given, "0"); n != "" || given == "" {
		return n
	}
	return noID
}

// setting returns the value of a transaction setting, "" if it is not there. Unknown names are
// ignored.
func (d *decoder) setting(name string) string {
	for _, s := range d.txn.Child("transactionSettings").All("setting") {
		if s.Get("settingName") == name {
			return s.Get("settingValue")
		}
	}
	return ""
}

// isTrue parses the booleans that clients send.
func isTrue(s string) bool { return s == "1" || strings.EqualFold(s, "true") }
