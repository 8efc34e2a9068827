package providera

import (
	"context"
	"regexp"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const updatePaymentProfileResponse = "updateCustomerPaymentProfileResponse"

// changePlan is a decoded updateCustomerPaymentProfileRequest.
type changePlan struct {
	Problem problem
	Change  command.ChangeMethod
	Mode    string
	given   wire.Node // the payment profile of the request
}

// maskedNumber matches the masked number of a stored card.
var maskedNumber = regexp.MustCompile(`^[Xx]{4}[0-9]{4}$`)

// decodeChange converts an updateCustomerPaymentProfileRequest to a plan. It is pure.
func decodeChange(req *wire.Request) changePlan {
	given := req.Root.Child("paymentProfile")
	plan := changePlan{Mode: req.Root.Get("validationMode"), given: given, Change: command.ChangeMethod{
		Customer: number(req.Root.Get("customerProfileId")), Method: number(given.Get("customerPaymentProfileId")),
		Default:  isTrue(given.Get("defaultPaymentProfile")),
		Metadata: map[string]string{"customer_type": given.Get("customerType")},
	}}
	if plan.Change.Method == "" {
		plan.Problem = missing("Customer Payment Profile ID")
		return plan
	}
	if billTo := given.Child("billTo"); billTo.Present() {
		plan.Change.Metadata["billing_fax"], plan.Change.Metadata[emptyBillingKey] = billTo.Get("faxNumber"), ""
		if plan.Change.Billing = contact(billTo); plan.Change.Billing == nil {
			plan.Change.Billing = &v1.Contact{}
		}
	}
	payment := given.Child("payment")
	card, bank := payment.Child("creditCard"), payment.Child("bankAccount")
	switch {
	case maskedNumber.MatchString(card.Get("cardNumber")):
		plan.Problem = plan.keepCard(card)
	case strings.ContainsAny(bank.Get("accountNumber"), "Xx"):
		plan.keepAccount(bank)
	default:
		plan.Problem = plan.replaceSource(payment)
	}
	return plan
}

// keepCard keeps the stored number, and changes the expiry unless that is masked too.
func (p *changePlan) keepCard(given wire.Node) problem {
	month, year, hidden, ok := expiration(given.Get("expirationDate"))
	if !ok {
		return invalid("Expiration Date")
	}
	p.Change.Require = command.Require{MethodType: command.CardMethod, Last4: lastFour(given.Get("cardNumber"))}
	if !hidden {
		p.Change.Expiry = &v1.CardExpiry{ExpMonth: month, ExpYear: year}
	}
	return problem{}
}

// keepAccount keeps the stored bank account. The request must have its masked numbers.
func (p *changePlan) keepAccount(given wire.Node) {
	p.Change.Require = command.Require{
		MethodType: command.BankMethod, Last4: accountEnd(given.Get("accountNumber")),
		Routing: strings.TrimLeft(given.Get("routingNumber"), "Xx"),
	}
	p.bankFields(given)
}

// bankFields changes the fields of a bank account that v1 does not have.
func (p *changePlan) bankFields(given wire.Node) {
	p.Change.Metadata["echeck_type"], p.Change.Metadata["bank_name"] = given.Get("echeckType"), given.Get("bankName")
}

// replaceSource replaces the stored number by a full one.
func (p *changePlan) replaceSource(payment wire.Node) problem {
	method, refused := newMethod(payment, wire.Node{}, p.Mode)
	switch {
	case !refused.none():
		return refused
	case !storable(method):
		return invalid("Card Number")
	}
	p.Change.New = &method.Token
	p.Change.Metadata[issuerKey] = method.Metadata[issuerKey]
	if bank := payment.Child("bankAccount"); bank.Present() {
		p.bankFields(bank)
	}
	return problem{}
}

// updatePaymentProfile serves an updateCustomerPaymentProfileRequest.
func (h *Handler) updatePaymentProfile(ctx context.Context, c call) (*wire.Document, problem) {
	plan := decodeChange(c.req)
	if !plan.Problem.none() {
		return finished(updatePaymentProfileResponse, c.req.RefID, plan.Problem)
	}
	checks, p := h.changeChecks(ctx, c, plan)
	if p.none() && queriesIssuer(checks) {
		p = requireScope(c.scopes, v1.ScopePaymentsAuthorize)
	}
	deleted := p.API == apiNoRecord && c.name != ""
	if p.none() || deleted {
		p = h.bind(ctx, c, plan.operation(), plan.Change)
	}
	if p.none() && deleted { // only an earlier request under the name can have changed it
		p = changeProblem(h.execute(ctx, c, plan.Change))
		return finished(updatePaymentProfileResponse, c.req.RefID, p)
	}
	if !p.none() {
		return finished(updatePaymentProfileResponse, c.req.RefID, p)
	}
	responses, p := h.validate(ctx, c, checks)
	if p.none() {
		r := h.execute(ctx, c, plan.Change)
		if p = changeProblem(r); r.Code == v1.CodeExpiredCard && len(checks) > 0 {
			responses, p = failedCheck(checks, responses, 1, reasonExpired)
		}
	}
	return withDirectResponse(updatePaymentProfileResponse, "validationDirectResponse", c.req.RefID, responses, p)
}

// operation returns the operation to which an Idempotency-Key is bound. It does not depend on the
// stored payment profile, which may change before a retry.
func (p changePlan) operation() string {
	if queries(p.Mode) {
		return updatePaymentProfileResponse + ", verified"
	}
	return updatePaymentProfileResponse
}

// changeChecks returns the check of the validation mode, if there is one. A card whose number stays
// is checked as it is stored.
func (h *Handler) changeChecks(ctx context.Context, c call, plan changePlan) ([]profileCheck, problem) {
	if !validated(plan.Mode) {
		return nil, problem{}
	}
	r := h.execute(ctx, c, command.GetMethod{Customer: plan.Change.Customer, Method: plan.Change.Method})
	if p := recordProblem(r); !p.none() {
		return nil, p
	}
	if plan.Change.New != nil {
		return []profileCheck{newCheck(ownerOf(r.Customer), plan.given, plan.Mode, c.basis).direct()}, problem{}
	}
	stored := r.Methods[0]
	if plan.Change.Billing != nil {
		stored.Billing = plan.Change.Billing
	}
	if plan.Change.Expiry != nil && stored.Card != nil {
		card := *stored.Card
		card.ExpMonth, card.ExpYear = plan.Change.Expiry.ExpMonth, plan.Change.Expiry.ExpYear
		stored.Card = &card
	}
	return []profileCheck{storedCheck(r.Customer, &stored, plan.Mode, plan.given.Get("payment", "creditCard", "cardCode"),
		c.basis)}, problem{}
}

// changeFields are the fields of the conditions that a change does not meet.
var changeFields = map[command.Condition]string{
	command.ConditionLast4: "Card Number", command.ConditionRouting: "Routing Number",
	command.ConditionMethodType: "Payment",
}

// changeProblem returns the problem of a request that changes a payment profile.
func changeProblem(r command.Result) problem {
	field := changeFields[r.Unmet]
	if r.Outcome == command.Unmet && field != "" {
		return invalid(field)
	}
	return paymentProfileProblem(r)
}
