package providera

import (
	"cmp"
	"context"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const profileTransactionResponse = "createCustomerProfileTransactionResponse"

// profileKind is a kind of transaction by a stored profile.
type profileKind struct {
	element         string // of the request
	direct          string // its name in the direct response
	transactionType string // the type of a transactionRequest that is the same
	decode          decodeType
}

var profileKinds = []profileKind{
	{"profileTransAuthCapture", "auth_capture", typeSale, (*decoder).authorize},
	{"profileTransAuthOnly", "auth_only", typeAuthorize, (*decoder).authorize},
	{"profileTransCaptureOnly", "capture_only", typeForced, (*decoder).authorize},
	{"profileTransPriorAuthCapture", "prior_auth_capture", typeCapture, (*decoder).captureOfProfile},
	{"profileTransRefund", "credit", typeRefund, (*decoder).refundOfProfile},
	{"profileTransVoid", "void", typeVoid, (*decoder).voidOfProfile},
}

// profileTransactionPlan is a decoded createCustomerProfileTransactionRequest.
type profileTransactionPlan struct {
	plan
	kind    profileKind
	options extraOptions
	ids     profileIDs
	// sent are the fields of the direct response that repeat the request.
	sent directLine
}

// decodeProfileTransaction converts a createCustomerProfileTransactionRequest to a plan. It is
// pure. The request becomes a transactionRequest first. So a payment has the same checks and
// duplicates in both methods.
func decodeProfileTransaction(req *wire.Request, basis basis) profileTransactionPlan {
	p := profileTransactionPlan{options: readOptions(req.Root.Get("extraOptions"))}
	var given wire.Node
	for _, kind := range profileKinds { // the schema requires one
		if n := req.Root.Child("transaction").Child(kind.element); n.Present() {
			p.kind, given = kind, n
		}
	}
	d := newDecoder(req, asTransaction(p.kind, given, p.options), basis)
	d.collectEcho()
	p.Type, p.ids = p.kind.transactionType, d.profileIDs()
	if c, refusal := p.kind.decode(d); refusal.none() {
		p.Command = c
	} else {
		p.Problem = refusal
	}
	p.Echo = d.echo
	p.sent = p.sentFields(d)
	return p
}

// asTransaction returns the transactionRequest that is the same as a transaction by a profile.
func asTransaction(kind profileKind, given wire.Node, options extraOptions) wire.Node {
	items := given.All("lineItems")
	for i := range items {
		items[i] = items[i].As("lineItem")
	}
	card, bank := given.Child("creditCardNumberMasked"), given.Child("bankAccountNumberMasked")
	children := []wire.Node{
		wire.Leaf("transactionType", kind.transactionType), given.Child("amount"),
		wire.Branch("payment", wire.Branch("creditCard", card.As("cardNumber")),
			wire.Branch("bankAccount", given.Child("bankRoutingNumberMasked").As("routingNumber"), bank.As("accountNumber"))),
		wire.Branch("profile", given.Child("customerProfileId"), wire.Branch("paymentProfile",
			given.Child("customerPaymentProfileId").As("paymentProfileId"), given.Child("cardCode")),
			given.Child("customerShippingAddressId").As("shippingProfileId")),
		given.Child("approvalCode").As("authCode"), given.Child("transId").As("refTransId"),
		given.Child("splitTenderId"), given.Child("order"), wire.Branch("lineItems", items...),
		given.Child("tax"), given.Child("duty"), given.Child("shipping"), given.Child("taxExempt"),
		given.Child("order").Child("purchaseOrderNumber").As("poNumber"), given.Child("processingOptions"),
		given.Child("subsequentAuthInformation"), given.Child("authorizationIndicatorType"),
	}
	children = append(children, options.elements(isTrue(given.Get("recurringBilling")))...)
	return wire.Branch("transactionRequest", children...)
}

// profileSource returns the condition that the referenced payment was made by the profile in the
// request, if there is one.
func (d *decoder) profileSource() (require command.Require, p problem) {
	ids := d.profileIDs()
	var err error
	if ids.Customer != "" {
		require.Customer, err = id.Decimal(id.Customer, ids.Customer)
	}
	if ids.Method != "" && err == nil {
		require.Method, err = id.Decimal(id.PaymentMethod, ids.Method)
	}
	if err != nil {
		return require, noProfile()
	}
	require.Currency, p = currencyOf(d.txn)
	return require, p
}

func (d *decoder) captureOfProfile() (command.Command, problem) {
	c, p := d.capture()
	capture, ok := c.(command.Capture)
	if !ok || !p.none() {
		return c, p
	}
	capture.Require, p = d.profileSource()
	return capture, p
}

func (d *decoder) voidOfProfile() (command.Command, problem) {
	target, p := d.target()
	if !p.none() {
		return nil, p
	}
	require, p := d.profileSource()
	require.Currency = "" // as in other voids
	return command.Void{Target: target, Require: require}, p
}

// refundOfProfile refunds a payment to its source. The request names the profile, the masked
// number, or both.
func (d *decoder) refundOfProfile() (command.Command, problem) {
	target, p := d.target()
	if !p.none() {
		return nil, p
	}
	amount, p := decimalAmount(d.txn.Child("amount"))
	if !p.none() {
		return nil, p
	}
	require, p := d.profileSource()
	if !p.none() {
		return nil, p
	}
	payment := d.txn.Child("payment")
	switch number, account := payment.Get("creditCard", "cardNumber"), payment.Get("bankAccount", "accountNumber"); {
	case number != "":
		require.MethodType, require.Last4 = command.CardMethod, lastFour(number)
		if require.Last4 == "" {
			return nil, because(reasonCardNumber)
		}
	case account != "":
		require.MethodType, require.Last4 = command.BankMethod, accountEnd(account)
		require.Routing = lastFour(payment.Get("bankAccount", "routingNumber"))
		if require.Last4 == "" {
			return nil, because(reasonAccount)
		}
	case require.Customer == "" && require.Method == "":
		return nil, blank("Credit card number")
	}
	require.Settled = true
	return command.Refund{
		Target: target, Amount: amount, Reference: d.txn.Get("order", "invoiceNumber"), Metadata: d.ownMetadata(),
		Require: require, Deduplication: d.deduplication(),
	}, problem{}
}

// profileTransaction serves a createCustomerProfileTransactionRequest.
func (h *Handler) profileTransaction(ctx context.Context, c call) (*wire.Document, problem) {
	p := decodeProfileTransaction(c.req, c.basis)
	c.req.Root = wire.Node{} // as in createTransaction
	outcome := p.Problem
	var r command.Result
	if outcome.none() && !p.Echo.Test {
		outcome = h.bind(ctx, c, p.kind.element, p.Command)
		if outcome.none() {
			r = h.execute(ctx, c, p.Command)
			outcome = judge(p.Type, r)
		}
	}
	if outcome.API == "" {
		var of payer
		of, outcome = h.payerOf(ctx, c, p, r, outcome)
		if outcome.API == "" {
			return p.document(c.req.RefID, r, of, outcome)
		}
	}
	return refusal(profileTransactionResponse, c.req.RefID, outcome), outcome
}

// payer is the stored customer of a transaction, for the direct response. The transaction does not
// depend on it.
type payer struct {
	customer *v1.Customer
	method   *v1.PaymentMethod
}

// unseen are the reasons whose direct response shows nothing of the payment.
var unseen = map[reason]bool{reasonNotFound: true, reasonOverCapture: true}

// payerOf reads the customer of a transaction after its outcome. Only a test request with the
// number of no profile gets another outcome.
func (h *Handler) payerOf(
	ctx context.Context, c call, p profileTransactionPlan, r command.Result, outcome problem,
) (payer, problem) {
	ids := p.ids
	if t := r.Transaction; t != nil {
		ids = profileIDs{}
		if customer := v1.Text(t.Customer); customer != "" {
			ids.Customer = decimal(id.Customer, customer)
		}
		if method, err := id.ToDecimal(id.PaymentMethod, t.PaymentMethod); err == nil {
			ids.Method = method
		}
	}
	if ids.Customer == "" || unseen[outcome.Reason] {
		return payer{}, outcome
	}
	var read command.Command = command.GetMethod{
		Customer: command.Number(ids.Customer), Method: command.Number(ids.Method),
	}
	if ids.Method == "" {
		read = command.GetCustomer{Customer: command.Number(ids.Customer)}
	}
	c.name = ""
	found := h.execute(ctx, c, read)
	switch {
	case found.Outcome == command.NotFound && p.Echo.Test && outcome.none():
		return payer{}, noProfile()
	case found.Outcome != command.Done:
		return payer{}, outcome
	}
	of := payer{customer: found.Customer}
	if ids.Method != "" && len(found.Methods) > 0 {
		of.method = &found.Methods[0]
	}
	return of, outcome
}

// document builds the response. It is Ok only for an approved payment, or one under review.
func (p profileTransactionPlan) document(
	refID *string, r command.Result, of payer, outcome problem,
) (*wire.Document, problem) {
	if outcome.none() {
		outcome = because(accepted(p.plan, r))
	}
	direct := wire.TextElement("directResponse", p.line(r, of, outcome))
	switch class, _ := outcome.reasonMessage(); class {
	case approved, held:
		return document(profileTransactionResponse, refID, wire.ResultOK, refuse(apiOK), direct), outcome
	default:
		return document(profileTransactionResponse, refID, wire.ResultError, unsuccessful(outcome), direct), outcome
	}
}

// line returns the direct response.
func (p profileTransactionPlan) line(r command.Result, of payer, outcome problem) string {
	if of.method != nil && r.Transaction == nil {
		r.Methods = []v1.PaymentMethod{*of.method}
	}
	t := newTransaction(p.plan, r, outcome)
	f := p.sent
	class := f.setOutcome(outcome, t.test)
	f[4], f[5], f[6] = t.authCode, t.avs, t.transID
	f[10], f[38], f[39] = "CC", t.cvv, t.cavv
	if t.accountType == checkAccount {
		f[10] = "ECHECK"
	}
	f[50], f[51], f[52], f[58] = t.account, directAccountType(t.accountType), t.splitTender, t.networkID
	if t.prepaid != nil {
		f[53], f[54] = t.prepaid.requested, t.prepaid.balance
	}
	if r.Transaction != nil && p.refersOnly() && class != failed {
		f[7] = newRecord(r.Transaction, nil, nil).invoice()
	}
	if class == failed && unseen[outcome.Reason] {
		f[50] = ""
	} else {
		p.setPayer(&f, r.Transaction, of)
	}
	after := p.options.unknown
	if p.ids.Address != "" {
		after = append(after, p.ids.Address)
	}
	return f.join(p.options.mark("x_delim_char", defaultDelimiter), p.options.mark("x_encap_char", ""), after...)
}

// refersOnly reports whether the transaction changes an earlier one, and has no data that the
// client sent.
func (p profileTransactionPlan) refersOnly() bool { return p.Type == typeCapture || p.Type == typeVoid }

// setPayer fills in the fields of the customer and its addresses. t is the payment, nil if there is
// none.
func (p profileTransactionPlan) setPayer(f *directLine, t *v1.Transaction, of payer) {
	if of.customer != nil {
		names := ownerOf(of.customer)
		f[12], f[23] = names.customer, names.email
	}
	var billing, shipping *v1.Contact
	fax := ""
	if of.method != nil {
		billing, fax = of.method.Billing, of.method.Metadata["billing_fax"]
	}
	if t != nil {
		billing, shipping = cmp.Or(t.Billing, billing), t.Shipping
		if of.customer == nil {
			f[12], f[23] = t.Metadata["customer_reference"], t.Metadata["customer_email"]
		}
	}
	address := storedAddress(billing, fax)
	if p.refersOnly() {
		f[19], f[23] = address[6], ""
		return
	}
	copy(f[13:23], address)
	if p.ids.Address != "" {
		copy(f[24:32], storedAddress(shipping, "")[:len(addressParts)])
	}
}

// sentFields returns the fields of the direct response that repeat the request.
func (p profileTransactionPlan) sentFields(d *decoder) (f directLine) {
	amount := func(n wire.Node) string {
		if !n.Has() {
			return ""
		}
		return decimals(canonical(n.Get()), 2)
	}
	f[9], f[11] = cmp.Or(amount(d.txn.Child("amount")), "0.00"), p.kind.direct
	f[32], f[33], f[34] = amount(d.txn.Child("tax").Child("amount")), amount(d.txn.Child("duty").Child("amount")),
		amount(d.txn.Child("shipping").Child("amount"))
	f[7], f[8] = d.txn.Get("order", "invoiceNumber"), d.txn.Get("order", "description")
	f[36] = d.txn.Get("poNumber")
	if exempt := d.txn.Get("taxExempt"); exempt != "" {
		f[35] = "FALSE"
		if isTrue(exempt) {
			f[35] = "TRUE"
		}
	}
	return f
}
