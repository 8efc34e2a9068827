package providera

import (
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// prepaid is what an answer tells of a card that may hold less than is asked for.
type prepaid struct {
	requested, approved string
	balance             string // empty when the issuer did not tell
}

// accepted is the reason of a request that v1 did: a payment may have been approved for less than it asked.
func accepted(transactionType string, r command.Result) reason {
	created := transactionType == typeSale || transactionType == typeAuthorize
	if created && r.Transaction != nil && partial(r.Transaction) {
		return reasonPartial
	}
	return reasonApproved
}

// partial reports whether a payment was approved for less than it asked.
func partial(t *v1.Transaction) bool { return t.AmountAuthorized > 0 && t.AmountAuthorized < t.Amount }

// prepaidOf is nil for a payment with nothing to tell.
func prepaidOf(t *v1.Transaction) *prepaid {
	currency, _ := money.Lookup(t.Currency) // v1 knows no other currencies
	balance := balanceOf(t, currency.Exponent)
	if balance == "" && !partial(t) {
		return nil
	}
	return &prepaid{
		requested: majorAmount(t.Amount, currency.Exponent), approved: majorAmount(t.AmountAuthorized, currency.Exponent), balance: balance,
	}
}

// balanceOf is what is left on the card, "" when the issuer did not tell.
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
	var l leaves
	l.text("requestedAmount", p.requested)
	l.text("approvedAmount", p.approved)
	l.text("balanceOnCard", p.balance)
	return wire.GroupElement("prePaidCard", l...)
}
