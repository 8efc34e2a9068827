package api

import (
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

// cardCVC is the field of a stored card's security code.
const cardCVC = "card_cvc"

// cvcFault refuses a security code for a source that already has, or had, a security code.
func (g givenSource) cvcFault() *fault {
	if g.cvc == nil {
		return nil
	}
	switch {
	case g.method == kindCard:
		return &fault{code: codeInvalidValue, param: cardCVC, message: "Send the code of a new card in card.cvc."}
	case isToken(g.method):
		return &fault{code: codeInvalidValue, param: cardCVC, message: "A token already has its card's code. Omit this field."}
	}
	return nil
}

// typeCVC adds a security code that the payer typed to a stored card. A stored card has no security
// code.
func (p *payer) typeCVC(cvc *secret.String) *fault {
	switch {
	case cvc == nil, p.drawn.Refused(): // the source cannot be charged: the intent refuses it
		return nil
	case p.shown.Card == nil:
		return &fault{
			code: codeInvalidValue, param: cardCVC, cause: p.basis,
			message: "Only cards have a security code. Omit this field.",
		}
	case !card.BrandOf(p.Card.Number).FitsCode(*cvc):
		return &fault{code: codeInvalidCVC, param: cardCVC, cause: p.basis}
	}
	p.Card.CVC = *cvc
	return nil
}
