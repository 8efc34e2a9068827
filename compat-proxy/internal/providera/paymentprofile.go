package providera

import (
	"context"
	"strconv"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The roots of the responses about payment profiles.
const (
	createPaymentProfileResponse = "createCustomerPaymentProfileResponse"
	getPaymentProfileResponse    = "getCustomerPaymentProfileResponse"
	deletePaymentProfileResponse = "deleteCustomerPaymentProfileResponse"
)

// requestedIDs returns the numbers in a request about one payment profile.
func requestedIDs(req wire.Node) profileIDs {
	return profileIDs{
		Customer: withoutZeros(req.Get("customerProfileId")), Method: withoutZeros(req.Get("customerPaymentProfileId")),
	}
}

// getPaymentProfile serves a getCustomerPaymentProfileRequest.
func (h *Handler) getPaymentProfile(ctx context.Context, c call) (*wire.Document, problem) {
	ids := requestedIDs(c.req.Root)
	view := newProfileView(c.req)
	view.names = true
	var shown elementList
	var p problem
	if ids.unstored() {
		var of *v1.Customer
		if of, p = h.unstoredOwner(ctx, c, ids); p.none() {
			shown = view.unstored(of, ids.position())
		}
	} else {
		r := h.execute(ctx, c, command.GetMethod{Customer: command.Number(ids.Customer), Method: command.Number(ids.Method)})
		if p = recordProblem(r); p.none() {
			shown = view.method(r.Customer, &r.Methods[0])
		}
	}
	if !p.none() {
		return refusal(getPaymentProfileResponse, c.req.RefID, p), p
	}
	return document(getPaymentProfileResponse, c.req.RefID, wire.ResultOK, refuse(apiOK),
		wire.GroupElement("paymentProfile", shown...)), p
}

// unstoredOwner reads the customer with a payment profile that v1 does not store.
func (h *Handler) unstoredOwner(ctx context.Context, c call, ids profileIDs) (*v1.Customer, problem) {
	r := h.execute(ctx, c, command.GetCustomer{Customer: command.Number(ids.Customer)})
	p := recordProblem(r)
	if p.none() && (profileView{}).unstored(r.Customer, ids.position()) == nil {
		p = refuse(apiNoRecord)
	}
	return r.Customer, p
}

// deletePaymentProfile serves a deleteCustomerPaymentProfileRequest.
func (h *Handler) deletePaymentProfile(ctx context.Context, c call) (*wire.Document, problem) {
	ids := requestedIDs(c.req.Root)
	if !ids.unstored() {
		return h.remove(ctx, c, deletePaymentProfileResponse, command.DetachMethod{
			Customer: command.Number(ids.Customer), Method: command.Number(ids.Method),
		})
	}
	if _, p := h.unstoredOwner(ctx, c, ids); !p.none() {
		return refusal(deletePaymentProfileResponse, c.req.RefID, p), p
	}
	return h.remove(ctx, c, deletePaymentProfileResponse, command.UpdateCustomer{
		Customer: command.Number(ids.Customer),
		Body:     v1.CustomerInput{Metadata: &v1.Metadata{unstoredKey + strconv.Itoa(ids.position()): ""}},
	})
}

// paymentProfilePlan is a decoded createCustomerPaymentProfileRequest.
type paymentProfilePlan struct {
	Problem problem
	Add     command.AddMethod
	Checks  []profileCheck // of the validation mode; at most one
}

// newOwner is the owner in the direct response of a new payment profile, as in recorded ones.
var newOwner = owner{customer: "none", email: "email@example.com"}

// decodePaymentProfile converts a createCustomerPaymentProfileRequest to a plan. It is pure.
func decodePaymentProfile(req *wire.Request, basis basis) paymentProfilePlan {
	given, mode := req.Root.Child("paymentProfile"), req.Root.Get("validationMode")
	method, p := newMethod(given.Child("payment"), given.Child("billTo"), mode)
	if p.none() && !storable(method) {
		p = invalid("Card Number")
	}
	if !p.none() {
		return paymentProfilePlan{Problem: p}
	}
	setNonEmpty(method.Metadata, "customer_type", given.Get("customerType"))
	plan := paymentProfilePlan{Add: command.AddMethod{
		Customer: number(req.Root.Get("customerProfileId")), Method: method,
		Default: isTrue(given.Get("defaultPaymentProfile")), Most: maxPaymentProfiles,
	}}
	if validated(mode) {
		plan.Checks = []profileCheck{newCheck(newOwner, given, mode, basis).direct()}
	}
	return plan
}

// direct returns the check of a method that reports a missing address in its direct response.
func (c profileCheck) direct() profileCheck {
	if c.Problem.API == apiFieldMissing {
		c.Problem = because(reasonIncomplete)
	}
	return c
}

// createPaymentProfile serves a createCustomerPaymentProfileRequest.
func (h *Handler) createPaymentProfile(ctx context.Context, c call) (*wire.Document, problem) {
	plan := decodePaymentProfile(c.req, c.basis)
	c.req.Root = wire.Node{} // as in createTransaction
	if !plan.Problem.none() {
		return refusal(createPaymentProfileResponse, c.req.RefID, plan.Problem), plan.Problem
	}
	var p problem
	if queriesIssuer(plan.Checks) {
		p = requireScope(c.scopes, v1.ScopePaymentsAuthorize)
	}
	if p.none() {
		p = h.bind(ctx, c, createPaymentProfileResponse, withChecks(plan.Add, plan.Checks)...)
	}
	if p.none() && queriesIssuer(plan.Checks) {
		p = h.mayCheck(ctx, c, plan.Add)
	}
	if !p.none() {
		return refusal(createPaymentProfileResponse, c.req.RefID, p), p
	}
	responses, p := h.validate(ctx, c, plan.Checks)
	if !p.none() {
		return newPaymentProfile(c.req.RefID, command.Result{}, responses, p)
	}
	r := h.execute(ctx, c, plan.Add)
	if r.Code == v1.CodeExpiredCard && len(plan.Checks) > 0 {
		responses, p = failedCheck(plan.Checks, responses, r.Position, reasonExpired)
		return newPaymentProfile(c.req.RefID, command.Result{}, responses, p)
	}
	return newPaymentProfile(c.req.RefID, r, responses, paymentProfileProblem(r))
}

// mayCheck refuses to query the issuer for an unknown customer. The customer may have been deleted
// since an earlier request under the call's name added the payment profile. That request's result
// is then found, and nothing else.
func (h *Handler) mayCheck(ctx context.Context, c call, do command.AddMethod) problem {
	r := h.execute(ctx, c, command.GetCustomer{Customer: do.Customer})
	if r.Outcome == command.NotFound && c.name != "" {
		r = h.execute(ctx, c, do)
	}
	return recordProblem(r)
}

// paymentProfileProblem returns the problem of a request that stores a payment profile.
func paymentProfileProblem(r command.Result) problem {
	if r.Outcome == command.Repeated {
		return problem{API: apiDuplicate, Text: textDuplicateMethod}
	}
	return recordProblem(r)
}

// textDuplicateMethod is the text of a payment profile that exists already.
const textDuplicateMethod = "A duplicate customer payment profile already exists."

// newPaymentProfile builds the response to a createCustomerPaymentProfileRequest. A duplicate has
// the numbers of the existing payment profile.
func newPaymentProfile(
	refID *string, r command.Result, responses []string, p problem,
) (*wire.Document, problem) {
	var own elementList
	if len(r.Methods) == 1 {
		own.text("customerProfileId", decimal(id.Customer, r.Customer.ID))
		own.text("customerPaymentProfileId", decimal(id.PaymentMethod, r.Methods[0].ID))
	}
	for _, response := range responses {
		own.text("validationDirectResponse", response)
	}
	if p.none() {
		return document(createPaymentProfileResponse, refID, wire.ResultOK, refuse(apiOK), own...), p
	}
	return document(createPaymentProfileResponse, refID, wire.ResultError, p, own...), p
}
