package engine

import (
	"context"
	"errors"

	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
)

// Begin judges a request by its head. Nothing of it may be forwarded before; when it is not a problem, the answer can be encrypted if that
// was asked for.
func (e *Engine) Begin(ctx context.Context, head RequestHead, caller Caller) (*Exchange, *Problem) {
	x := &Exchange{engine: e, head: head}
	if e.rule(head, "").Request == policy.Off {
		if p := TakesNone(head.Fields); p != nil {
			return nil, p
		}
		x.ops = x.passOps()
		return x, nil
	}
	var p *Problem
	if x.ask, p = readAsk(head); p != nil {
		return nil, p
	}
	if x.ask.any() || e.policy.ByMerchant() {
		if x.merchant, p = caller(ctx); p != nil {
			return nil, p
		}
	}
	if p = x.obey(e.rule(head, x.merchant)); p != nil {
		return nil, p
	}
	if p = x.checkBody(); p != nil {
		return nil, p
	}
	if p = x.resolveReply(ctx); p != nil {
		return nil, p
	}
	x.ops = x.passOps()
	return x, nil
}

// TakesNone refuses a request that asks for any encryption where there is none: its body would not be understood, or its answer go out in the
// clear.
func TakesNone(f Fields) *Problem {
	if !present(f) {
		return nil
	}
	return problem(CodeNotSupported, "off", "This endpoint takes no encryption: send no X-SVC-MLE fields and no application/jose.")
}

// rule is what holds for a request.
func (e *Engine) rule(head RequestHead, merchant string) policy.Rule {
	return e.policy.Rule(head.Method, head.Path, merchant).Combine(head.Level)
}

// obey refuses what the policy does. A request without a body needs no encryption where its method goes without one.
func (x *Exchange) obey(rule policy.Rule) *Problem {
	carries := x.head.Body
	switch x.head.Method {
	case "POST", "PUT", "PATCH":
		carries = true
	}
	if rule.Request == policy.Required && carries && !x.ask.jose {
		return problem(CodeRequired, "request", "This endpoint takes encrypted bodies only: application/jose with X-SVC-MLE: v1.")
	}
	if rule.Response == policy.Required && !x.ask.response {
		return problem(CodeRequired, "response", "The answer must be asked for encrypted: X-SVC-MLE-Response: required.").at("X-SVC-MLE-Response")
	}
	return nil
}

// checkBody refuses an encrypted body that is known to be too large, or to be none.
func (x *Exchange) checkBody() *Problem {
	if !x.ask.jose {
		return nil
	}
	if !x.head.Body {
		return failed(jwe.ReasonEncoding, "The body is empty; a compact JWE was announced.")
	}
	if x.head.Length > int64(x.engine.settings.MaxBody) {
		return tooLarge()
	}
	return nil
}

// resolveReply finds the key to encrypt the answer with, before anything is carried out whose answer could then not be given.
func (x *Exchange) resolveReply(ctx context.Context) *Problem {
	if !x.ask.response {
		return nil
	}
	key, err := x.engine.keys.Response(ctx, x.merchant, x.ask.kid)
	if err != nil && !errors.Is(err, ErrNoKey) {
		return unavailable("keys", retryKeys, err)
	}
	if err == nil {
		x.reply, err = jwe.NewRecipient(key)
	}
	if err != nil {
		param := "X-SVC-MLE-Response"
		if x.ask.kid != "" {
			param = "X-SVC-MLE-Response-Kid"
		}
		return problem(CodeKIDUnknown, "response_key", "There is no such response key, or none at all; register one first.").at(param)
	}
	return nil
}

// retryKeys is how many seconds to wait when keys cannot be had.
const retryKeys = 5

func tooLarge() *Problem {
	return problem(CodeTooLarge, "size", "The body is too large.")
}

func failed(reason jwe.Reason, hint string) *Problem {
	return problem(CodeDecryptFailed, string(reason), hint)
}

// passOps are the changes to a request that is not unwrapped.
func (x *Exchange) passOps() []HeaderOp {
	ops := append(inside(x.head.Names), dels(FieldInternal, FieldMLE, FieldResponse, FieldResponseKID)...)
	ops = x.appendHopOps(ops)
	if x.reply == nil {
		return ops
	}
	return append(append(ops, dels(unasked...)...), Set(FieldInternal, x.internal()))
}

// appendHopOps appends the changes that authenticate this hop to core and forward the client
// address.
func (x *Exchange) appendHopOps(ops []HeaderOp) []HeaderOp {
	ops = append(ops, x.engine.proof)
	if x.engine.hop.IsZero() || x.head.ClientAddress == "" {
		return ops
	}
	return append(ops, Set(FieldClientAddress, x.head.ClientAddress), Set(FieldHop, x.engine.hop.Reveal()))
}

// internal is what core is told: what was encrypted, for whom, and whether the answer is.
func (x *Exchange) internal() string {
	value := version
	if x.kid != "" {
		value += ";kid=" + x.kid
	}
	value += ";merchant=" + x.merchant
	if x.reply != nil {
		value += ";response=required"
	}
	return value
}
