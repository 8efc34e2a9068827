package providera

import (
	"context"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const createCustomerProfileResponse = "createCustomerProfileResponse"

// createProfile serves a createCustomerProfileRequest.
func (h *Handler) createProfile(ctx context.Context, c call) (*wire.Document, problem) {
	plan := decodeProfile(c.req, c.basis)
	c.req.Root = wire.Node{} // as in createTransaction
	if !plan.Problem.none() {
		return profileResponse(c.req.RefID, profileNumbers{}, nil, plan.Problem)
	}
	if queriesIssuer(plan.Checks) {
		if p := requireScope(c.scopes, v1.ScopePaymentsAuthorize); !p.none() {
			return refusal(createCustomerProfileResponse, c.req.RefID, p), p
		}
	}
	if p := h.bind(ctx, c, createCustomerProfileResponse, withChecks(plan.Create, plan.Checks)...); !p.none() {
		return profileResponse(c.req.RefID, profileNumbers{}, nil, p)
	}
	responses, p := h.validate(ctx, c, plan.Checks)
	if !p.none() {
		return profileResponse(c.req.RefID, profileNumbers{}, responses, p)
	}
	if !plan.Duplicates.none() {
		return profileResponse(c.req.RefID, profileNumbers{}, responses, plan.Duplicates)
	}
	r := h.execute(ctx, c, plan.Create)
	if r.Code == v1.CodeExpiredCard && len(plan.Checks) > 0 {
		responses, p = failedCheck(plan.Checks, responses, r.Position, reasonExpired)
		return profileResponse(c.req.RefID, profileNumbers{}, responses, p)
	}
	return profileResponse(c.req.RefID, plan.numbers(r), responses, createdProfile(r))
}

// createdProfile returns the problem of a request that makes a customer. V1 can refuse one of its
// addresses even if they are not too many, because they are too long together.
func createdProfile(r command.Result) problem {
	if r.Unmet == command.ConditionMost {
		return refuse(apiTooManyAddresses)
	}
	return judgeProfile(r)
}

// profileResponse builds the response to a createCustomerProfileRequest.
func profileResponse(refID *string, m profileNumbers, responses []string, p problem) (*wire.Document, problem) {
	// The client sees no difference between v1's refusal of the caller and the proxy's.
	if p.API == apiBadLogin || p.API == apiInactive || p.API == apiAccessDenied {
		return refusal(createCustomerProfileResponse, refID, p), p
	}
	own := append(m.elements(), texts("validationDirectResponseList", "string", responses))
	if p.none() {
		return document(createCustomerProfileResponse, refID, wire.ResultOK, refuse(apiOK), own...), p
	}
	return document(createCustomerProfileResponse, refID, wire.ResultError, p, own...), p
}
