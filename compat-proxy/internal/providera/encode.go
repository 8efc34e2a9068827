package providera

import (
	"cmp"
	"strconv"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	testAuthCode = "000000"
	testPrefix   = "(TESTMODE) "
	noID         = "0"
)

// transaction holds the fields of a transactionResponse. A zero field becomes an empty element.
type transaction struct {
	problem     problem
	authCode    string
	avs         string
	cvv         string
	cavv        string
	transID     string
	reference   string
	account     string
	accountType string
	networkID   string
	splitTender string
	prepaid     *prepaid
	tenders     []*wire.Element
	test        bool
	userFields  []field
	profile     profileIDs
	hash        transHash
}

// encode builds the response to a plan from the result of its command. No command ran if the plan
// has a problem or is a test. encode is pure.
func encode(p plan, refID *string, r command.Result) (*wire.Document, problem) {
	outcome := p.Problem
	if outcome.none() && !p.Echo.Test {
		outcome = judge(p.Type, r)
	}
	if outcome.API != "" {
		return refusal(createTransactionResponse, refID, outcome), outcome
	}
	if outcome.none() {
		outcome = because(accepted(p, r))
	}
	return transactionDocument(newTransaction(p, r, outcome), refID), outcome
}

// newTransaction fills in the fields that the client may see with that outcome.
func newTransaction(p plan, r command.Result, outcome problem) transaction {
	class, _ := outcome.reasonMessage()
	t := transaction{
		problem: outcome, avs: avsNotApplicable, transID: cmp.Or(p.Number, noID), reference: p.Echo.Reference,
		account: p.Echo.Account, accountType: p.Echo.AccountType, test: p.Echo.Test, userFields: p.Echo.UserFields,
		profile: p.Echo.Profile.charged(r.Transaction), hash: p.Hash,
	}
	if account, accountType := charged(r.Transaction); account != "" {
		t.account, t.accountType = account, accountType
	}
	if len(r.Methods) == 1 { // stored, and not charged
		t.account, t.accountType = charged(&v1.Transaction{Card: r.Methods[0].Card, BankAccount: r.Methods[0].BankAccount})
	}
	switch {
	case outcome.Reason == reasonAlreadyVoided || outcome.Reason == reasonAlreadyCaptured:
		t.account = ""
	case outcome.Reason == reasonCardNumber:
		t.accountType = ""
	case r.Outcome == command.NotFound:
		t.account, t.accountType = "", ""
	case class == failed:
	case t.test:
		t.authCode = testAuthCode
	default:
		t.setDecision(p.Type, r, outcome.Reason)
	}
	return t
}

// checkAccount is the account type of a bank account.
const checkAccount = "eCheck"

// charged returns the masked number of the payment source and its type. Both are empty if the
// payment does not have them.
func charged(t *v1.Transaction) (account, accountType string) {
	switch {
	case t == nil:
		return "", ""
	case t.Card != nil:
		return masked(t.Card.Last4), accounts[card.Brand(t.Card.Brand)].name
	case t.NetworkToken != nil:
		return masked(t.NetworkToken.Last4), accounts[card.Brand(t.NetworkToken.Brand)].name
	case t.BankAccount != nil:
		return masked(t.BankAccount.Last4), checkAccount
	}
	return "", ""
}

// setDecision fills in the fields of a payment that the acquirer decided.
func (t *transaction) setDecision(transactionType string, r command.Result, why reason) {
	paid := r.Transaction
	if r.Refund != nil {
		t.transID = decimal(id.Refund, r.Refund.ID)
		return
	}
	if paid == nil {
		return
	}
	t.transID = decimal(id.Transaction, paid.ID)
	var code, network string
	if paid.Authorization != nil {
		code, network = v1.Text(paid.Authorization.Code), v1.Text(paid.Authorization.NetworkTransactionID)
	}
	switch transactionType {
	case typeSale, typeAuthorize:
		t.avs, t.cvv, t.cavv = resultCodes(paid)
		if why == reasonApproved || why == reasonPartial || filterDeclines[why] {
			t.authCode, t.networkID = code, network
		}
		t.prepaid = prepaidOf(paid)
	case typeRefund:
	default:
		if why == reasonApproved {
			t.authCode = code
		}
	}
	if why == reasonPartial || len(r.Group) > 0 {
		t.splitTender = groupOf(paid)
	}
	for i := range r.Group {
		t.tenders = append(t.tenders, tenderElement(&r.Group[i]))
	}
}

// transactionDocument builds the document of a judged transaction. Its result is Ok unless the
// transaction failed; a decline is Ok too.
func transactionDocument(t transaction, refID *string) *wire.Document {
	class, message := t.problem.reasonMessage()
	if t.test {
		message = testPrefix + message
	}
	code := strconv.Itoa(int(t.problem.Reason))
	messages := wire.ListElement("errors", wire.GroupElement("error",
		wire.TextElement("errorCode", code), wire.TextElement("errorText", message)))
	if class == approved || class == held {
		messages = wire.ListElement("messages", wire.GroupElement("message",
			wire.TextElement("code", code), wire.TextElement("description", message)))
	}
	result, api := wire.ResultOK, apiOK
	if class == failed {
		result, api = wire.ResultError, apiUnsuccessful
	}
	return document(createTransactionResponse, refID, result, problem{API: api}, t.element(class, messages))
}

// element builds the transactionResponse in schema order. Elements that may be empty are always
// there.
func (t transaction) element(class responseCode, messages *wire.Element) *wire.Element {
	test := "0"
	if t.test {
		test = "1"
	}
	e := wire.GroupElement(transactionResponse,
		wire.TextElement("responseCode", string(class)),
		wire.TextElement("authCode", t.authCode),
		wire.TextElement("avsResultCode", t.avs),
		wire.TextElement("cvvResultCode", t.cvv),
		wire.TextElement("cavvResultCode", t.cavv),
		wire.TextElement("transId", t.transID),
		wire.TextElement("refTransID", t.reference),
		wire.TextElement("transHash", ""),
		wire.TextElement("testRequest", test),
		wire.TextElement("accountNumber", t.account),
		wire.TextElement("accountType", t.accountType),
	)
	if t.splitTender != "" {
		e.Add(wire.TextElement("splitTenderId", t.splitTender))
	}
	if t.prepaid != nil {
		e.Add(t.prepaid.element())
	}
	e.Add(messages)
	if len(t.tenders) > 0 {
		e.Add(wire.ListElement("splitTenderPayments", t.tenders...))
	}
	if len(t.userFields) > 0 {
		fields := wire.ListElement("userFields")
		for _, f := range t.userFields {
			fields.Add(wire.GroupElement("userField",
				wire.TextElement("name", f.Name), wire.TextElement("value", f.Value)))
		}
		e.Add(fields)
	}
	e.Add(wire.TextElement("transHashSha2", t.hash.of(t.transID)))
	if ids := t.profile.elements(); len(ids) > 0 {
		e.Add(wire.GroupElement("profile", ids...))
	}
	e.Add(supplemental())
	if t.networkID != "" && wire.NetworkTransID.Allows(t.networkID) {
		e.Add(wire.TextElement("networkTransId", t.networkID))
	}
	return e
}

const (
	createTransactionResponse = "createTransactionResponse"
	transactionResponse       = "transactionResponse"
)

// refusal builds the document of an envelope problem: the method's root element and, for a
// transaction, an empty response.
func refusal(root string, refID *string, p problem) *wire.Document {
	var own []*wire.Element
	if root == createTransactionResponse {
		own = []*wire.Element{wire.GroupElement(transactionResponse, supplemental())}
	}
	return document(root, refID, wire.ResultError, p, own...)
}

func document(root string, refID *string, result string, p problem, own ...*wire.Element) *wire.Document {
	return &wire.Document{
		Root: root, RefID: refID, ResultCode: result,
		Messages: []wire.Message{{Code: string(p.API), Text: p.apiMessage()}}, Own: own,
	}
}

// supplemental returns the one member that only JSON has.
func supplemental() *wire.Element {
	e := wire.RawElement("SupplementalDataQualificationIndicator", "0")
	e.JSONOnly = true
	return e
}

// decimal returns the number of a v1 id, the form in which legacy clients get it. It returns noID
// for an id of another form.
func decimal(p id.Prefix, v1ID string) string {
	n, err := id.ToDecimal(p, v1ID)
	if err != nil {
		return noID
	}
	return n
}
