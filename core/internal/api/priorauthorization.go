package api

import v1 "github.com/causeway-pay/causeway/shared/v1"

// priorFault refuses fields that contradict an approval that the issuer gave before. The issuer
// gets no request, so the payment cannot wait, be partial or be authenticated.
func priorFault(in *v1.TransactionCreate) *fault {
	const param = "prior_authorization"
	switch {
	case in.PriorAuthorization == nil:
		return nil
	case in.PriorAuthorization.Code == "":
		return &fault{code: codeMissingField, param: param + ".code"}
	case !approvalCode(in.PriorAuthorization.Code):
		return &fault{code: codeInvalidValue, param: param + ".code", message: "The approval code must have 1 to 6 capital letters and digits."}
	case unconfirmed(in):
		return &fault{code: codeInvalidValue, param: param, message: "A prior authorization cannot wait for a confirmation. Omit confirm."}
	case !autoCapture(in):
		return &fault{code: codeInvalidValue, param: "capture", message: "With a prior authorization, capture must be \"automatic\"."}
	case partial(in):
		return &fault{code: codeInvalidValue, param: "partial_authorization", message: "With a prior authorization, partial_authorization must be \"never\"."}
	case in.ThreeDSecure != nil:
		return &fault{code: codeInvalidValue, param: "three_d_secure", message: "3-D Secure cannot be used with a prior authorization. Omit it."}
	}
	return nil
}

// priorFault refuses a prior authorization of anything but a card.
func (p *payer) priorFault(in *v1.TransactionCreate) *fault {
	if in.PriorAuthorization == nil || p.shown.Card != nil || p.drawn.Refused() {
		return nil
	}
	return &fault{
		code: codeInvalidValue, param: "prior_authorization", cause: p.basis,
		message: "A prior authorization must have a card as its payment method.",
	}
}

// priorCode returns the code of the approval that the issuer gave before, "" for none.
func priorCode(in *v1.TransactionCreate) string {
	if in.PriorAuthorization == nil {
		return ""
	}
	return in.PriorAuthorization.Code
}

// approvalCode reports whether s can be an issuer's approval code.
func approvalCode(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 6
}
