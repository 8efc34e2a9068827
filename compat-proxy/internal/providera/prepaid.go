package providera

import (
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// prepaid holds the amounts of a response for a card that may hold less than the requested amount.
type prepaid struct {
	requested, approved string
	balance             string // empty if the issuer did not return it
}

// accepted returns the reason of a request that v1 executed: approved, partially approved, or under
// review.
func accepted(p plan, r command.Result) reason {
	created := p.Type == typeSale || p.Type == typeAuthorize
	switch {
	case p.Held:
		return reasonUnderReview
	case created && r.Transaction != nil && partial(r.Transaction):
		return reasonPartial
	}
	return reasonApproved
}

// partial reports whether a payment was approved for less than its amount.
func partial(t *v1.Transaction) bool { return t.AmountAuthorized > 0 && t.AmountAuthorized < t.Amount }

// prepaidOf returns nil for a fully approved payment without a balance.
func prepaidOf(t *v1.Transaction) *prepaid {
	currency, _ := money.Lookup(t.Currency) // v1 has no other currencies
	balance := balanceOf(t, currency.Exponent)
	if balance == "" && !partial(t) {
		return nil
	}
	return &prepaid{
		requested: majorAmount(t.Amount, currency.Exponent),
		approved:  majorAmount(t.AmountAuthorized, currency.Exponent), balance: balance,
	}
}

// balanceOf returns the balance of the card, "" if the issuer did not return it.
func balanceOf(t *v1.Transaction, exponent int) string {
	if t.Authorization == nil || t.Authorization.Balance == nil {
		return ""
	}
	left := *t.Authorization.Balance
	if left < 0 {
		return "-" + majorAmount(-left, exponent)
	}
	return majorAmount(left, exponent)
}

func (p *prepaid) element() *wire.Element {
	var l elementList
	l.text("requestedAmount", p.requested)
	l.text("approvedAmount", p.approved)
	l.text("balanceOnCard", p.balance)
	return wire.GroupElement("prePaidCard", l...)
}
