package engine

import (
	"context"
	"errors"
	"strconv"

	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Begin checks the head of a request. A shell must not forward any part of the request before Begin
// returns. If Begin returns no problem, the response can be encrypted if the client demanded it.
func (e *Engine) Begin(ctx context.Context, head RequestHead, caller Caller) (*Exchange, *Problem) {
	x := &Exchange{engine: e, head: head, types: legacyTypes(head.Path)}
	if x.requiredRule().Request == policy.Off { // the merchant does not matter: off stays off
		if p := RejectEncryption(head.Fields); p != nil {
			return nil, p
		}
		x.ops = x.passOps()
		return x, nil
	}
	var p *Problem
	if x.demand, p = readDemand(head); p != nil {
		return nil, p
	}
	if p = x.identify(ctx, caller); p != nil {
		return nil, p
	}
	if p = x.enforce(x.requiredRule()); p != nil {
		return nil, x.refuseKey(ctx, caller, p)
	}
	if p = x.checkBody(); p != nil {
		return nil, p
	}
	if p = x.resolveResponseKey(ctx); p != nil {
		return nil, p
	}
	x.ops = x.passOps()
	return x, nil
}

// identify finds the merchant of the request, if it matters. Without an Authorization field the
// request has no merchant. If its endpoint needs an API key, core refuses it.
func (x *Exchange) identify(ctx context.Context, caller Caller) (p *Problem) {
	switch {
	case x.types != nil && !hasAPIKey(x.head.Fields):
		return x.rejectLogin()
	case x.demand.any() || x.engine.policy.ByMerchant() && hasLogin(x.head.Fields):
		x.merchant, p = caller(ctx)
	}
	return p
}

// refuseKey returns the problem of the API key, if it has one, and p otherwise. A refusal by the
// rule comes after the authentication, as core's refusals do.
func (x *Exchange) refuseKey(ctx context.Context, caller Caller, p *Problem) *Problem {
	if x.merchant != "" || !hasLogin(x.head.Fields) {
		return p
	}
	if _, invalid := caller(ctx); invalid != nil {
		return invalid
	}
	return p
}

// RejectEncryption rejects a request that demands encryption on a route without encryption.
// Otherwise core would receive a body that it cannot parse, or the response would be sent in the
// clear.
func RejectEncryption(f Fields) *Problem {
	if !hasMLEFields(f) {
		return nil
	}
	return problem(CodeNotSupported, "off", v1.MessageNoMLE)
}

// rule returns the rule for the request: the policy's, made stricter by the level of its route.
func (x *Exchange) rule(merchant string) policy.Rule {
	return x.engine.policy.Rule(x.head.Method, x.head.Path, merchant).Combine(x.head.Level)
}

// requiredRule returns the rule that the request must meet. An announced requirement makes it
// stricter, even on a route that is off. Requests of compat-proxy are exempt from that: legacy
// clients call other endpoints. If the legacy client's request was encrypted, it has met every rule
// there.
func (x *Exchange) requiredRule() policy.Rule {
	rule := x.rule(x.merchant)
	switch x.head.Legacy {
	case LegacyEncrypted:
		if rule.Request != policy.Off {
			return policy.Rule{Request: policy.Optional, Response: policy.Optional}
		}
	case LegacyClear:
	default:
		if x.engine.announced(x.head.Method, x.head.Path) {
			return rule.Combine(policy.Required)
		}
	}
	return rule
}

// enforce rejects a request that does not meet the rule. A request without a body needs no
// encryption if its method allows one without.
func (x *Exchange) enforce(rule policy.Rule) *Problem {
	hasBody := x.head.Body
	switch x.head.Method {
	case "POST", "PUT", "PATCH":
		hasBody = true
	}
	if rule.Request == policy.Required && hasBody && !x.demand.jose {
		return problem(CodeRequired, "request", "An encrypted body is required: send application/jose with X-SVC-MLE: v1.")
	}
	if rule.Response == policy.Required && !x.demand.response {
		return problem(
			CodeRequired, "response", "An encrypted response is required: send X-SVC-MLE-Response: required.",
		).at("X-SVC-MLE-Response")
	}
	return nil
}

// checkBody rejects an encrypted body that is missing, or whose Content-Length is too large.
func (x *Exchange) checkBody() *Problem {
	if !x.demand.jose {
		return nil
	}
	if !x.head.Body {
		return failed(jwe.ReasonEncoding, "The body is empty. Send a compact JWE.")
	}
	if x.head.Length > int64(x.engine.settings.MaxBody) {
		return TooLarge(int64(x.engine.settings.MaxBody))
	}
	return nil
}

// resolveResponseKey finds the key that encrypts the response. It runs before the request is
// forwarded, so core executes no request whose response cannot be encrypted.
func (x *Exchange) resolveResponseKey(ctx context.Context) *Problem {
	if !x.demand.response {
		return nil
	}
	if x.publishable() {
		return x.checkDerivable()
	}
	key, err := x.engine.keys.ResponseKey(ctx, x.merchant, x.demand.kid)
	switch {
	case errors.Is(err, ErrNoKey) && x.demand.kid == "":
		return x.checkDerivable()
	case errors.Is(err, ErrNoKey):
		return problem(CodeKIDUnknown, "response_key",
			"X-SVC-MLE-Response-Kid names no active response key of this merchant. List them at GET /v1/mle/response_keys.",
		).at("X-SVC-MLE-Response-Kid")
	case err != nil:
		return unavailable("keys", retryKeys, err)
	}
	recipient, err := jwe.NewRecipient(key)
	if err != nil {
		return problem(CodeKIDUnknown, "response_key",
			"The registered response key cannot be used. Register another one with POST /v1/mle/response_keys.",
		).at("X-SVC-MLE-Response")
	}
	x.responseKey, x.responseKID = recipient, recipient.KID()
	return nil
}

// checkDerivable rejects a request without a registered response key, unless Unwrap can derive a
// key from its body. A payer has no key that a merchant registered, so the key of a publishable key
// is always derived.
func (x *Exchange) checkDerivable() *Problem {
	switch {
	case x.demand.kid != "":
		return problem(CodeKIDUnknown, "response_key",
			"A publishable key has no response keys. Omit X-SVC-MLE-Response-Kid: the key is derived from the request.",
		).at("X-SVC-MLE-Response-Kid")
	case x.demand.jose:
		return nil
	case x.publishable():
		return problem(CodeKIDUnknown, "response_key",
			"With a publishable key, the response key is derived from an encrypted body, and this request has none. "+
				"Encrypt the body, or omit X-SVC-MLE-Response.",
		).at("X-SVC-MLE-Response")
	}
	return problem(CodeKIDUnknown, "response_key",
		"No response key is registered, and without an encrypted body none can be derived. "+
			"Register one with POST /v1/mle/response_keys, encrypt the body, or omit X-SVC-MLE-Response.",
	).at("X-SVC-MLE-Response")
}

// retryKeys is the Retry-After in seconds if the keys cannot be read.
const retryKeys = 5

// TooLarge returns the problem of a body above the limit in bytes.
func TooLarge(limit int64) *Problem {
	return problem(CodeTooLarge, "size", v1.MessageBodyTooLarge(strconv.FormatInt(limit, 10)+" bytes"))
}

func failed(reason jwe.Reason, hint string) *Problem {
	return problem(CodeDecryptFailed, string(reason), hint)
}

// passOps returns the changes to a request whose body is not decrypted.
func (x *Exchange) passOps() []HeaderOp {
	ops := append(deleteInternal(x.head.Names), deleteAll(FieldInternal, FieldMLE, FieldResponse, FieldResponseKID)...)
	ops = x.appendHopOps(ops)
	if !x.demand.response {
		return ops
	}
	return append(append(ops, deleteAll(withheldFields...)...), Set(FieldInternal, x.internal()))
}

// appendHopOps appends the changes that authenticate this hop to core and forward the client
// address.
func (x *Exchange) appendHopOps(ops []HeaderOp) []HeaderOp {
	ops = append(ops, x.proof())
	if x.engine.hop.IsZero() || x.head.ClientAddress == "" {
		return ops
	}
	return append(ops, Set(FieldClientAddress, x.head.ClientAddress), Set(FieldHop, x.engine.hop.Reveal()))
}

// proof returns the change that proves to core that the request passed this filter. compat-proxy
// receives no proof: it sends own requests to v1.
func (x *Exchange) proof() HeaderOp {
	if x.types != nil {
		return Del(FieldProof)
	}
	return x.engine.proof
}

// internal returns the value of FieldInternal for core: the key, the merchant, and whether the
// response will be encrypted.
func (x *Exchange) internal() string {
	value := version
	if x.kid != "" {
		value += ";kid=" + x.kid
	}
	value += ";merchant=" + x.merchant
	if x.demand.response {
		value += ";response=required"
	}
	return value
}
