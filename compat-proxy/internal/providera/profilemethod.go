package providera

import (
	"context"
	"slices"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

const createCustomerProfileResponse = "createCustomerProfileResponse"

// createProfile serves a createCustomerProfileRequest.
func (h *Handler) createProfile(ctx context.Context, c call) (*wire.Document, problem) {
	plan := decodeProfile(c.req, c.set)
	if !plan.Problem.none() {
		return profileAnswer(c.req.RefID, made{}, nil, plan.Problem)
	}
	if p := lacking(c.scopes, plan.scopes()); !p.none() {
		return refusal(createCustomerProfileResponse, c.req.RefID, p), p
	}
	said, p := h.validate(ctx, c.key, plan.Checks)
	if !p.none() {
		return profileAnswer(c.req.RefID, made{}, said, p)
	}
	if plan.Twice {
		return profileAnswer(c.req.RefID, made{}, said,
			problem{API: apiDuplicate, Text: "A duplicate customer payment profile already exists."})
	}
	r := h.cfg.Executor.Execute(ctx, c.key, []command.Command{plan.Create})[0]
	if r.Code == command.CodeExpiredCard && len(plan.Checks) > 0 {
		said, p = failedCheck(plan.Checks, said, r.Place, reasonExpired)
		return profileAnswer(c.req.RefID, made{}, said, p)
	}
	return profileAnswer(c.req.RefID, newMade(r), said, judgeProfile(r))
}

// scopes returns the v1 scopes that the plan needs besides the method's own.
func (p profilePlan) scopes() []string {
	scopes := customerScopes(p.Create)
	if p.live() {
		scopes = append(scopes, "payments:authorize")
	}
	return scopes
}

// customerScopes returns the scopes that v1 requires for making a customer.
func customerScopes(c command.CreateCustomer) []string {
	scopes := []string{"customers:write", "customers:read"}
	if len(c.Methods) > 0 {
		scopes = append(scopes, "tokens:create")
	}
	return scopes
}

// lacking refuses a request with a missing scope before v1 would refuse it half-way.
func lacking(granted, needed []string) problem {
	for _, scope := range needed {
		if !slices.Contains(granted, scope) {
			return refuse(apiAccessDenied)
		}
	}
	return problem{}
}

// profileAnswer builds the response to a createCustomerProfileRequest.
func profileAnswer(refID *string, m made, said []string, p problem) (*wire.Document, problem) {
	// V1's refusal of the caller looks like the proxy's own.
	if p.API == apiBadLogin || p.API == apiInactive || p.API == apiAccessDenied {
		return refusal(createCustomerProfileResponse, refID, p), p
	}
	own := append(m.elements(), texts("validationDirectResponseList", "string", said))
	if p.none() {
		return document(createCustomerProfileResponse, refID, wire.ResultOK, refuse(apiOK), own...), p
	}
	return document(createCustomerProfileResponse, refID, wire.ResultError, p, own...), p
}
