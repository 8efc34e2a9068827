package providera

import (
	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

// refunded returns the conditions of a linked refund: its card or bank account must be the one that
// paid.
func (d *decoder) refunded() (require command.Require, expiry string, p problem) {
	payment := d.txn.Child("payment")
	if bank := payment.Child("bankAccount"); bank.Present() {
		require, p = d.refundedBank(bank)
		return require, "", p
	}
	number, expiry := payment.Get("creditCard", "cardNumber"), payment.Get("creditCard", "expirationDate")
	if data := payment.Child("trackData"); data.Present() {
		number, expiry, _ = track(data)
	}
	last4 := lastFour(number)
	if last4 == "" {
		return command.Require{}, "", because(reasonCardNumber)
	}
	if _, _, _, ok := expiration(expiry); !ok {
		return command.Require{}, "", because(reasonExpiration)
	}
	return command.Require{MethodType: command.CardMethod, Last4: last4}, expiry, problem{}
}

// refundedBank returns the part of refunded for a bank account. A test request never finds the
// payment of a bank account. Clients rely on that.
func (d *decoder) refundedBank(bank wire.Node) (command.Require, problem) {
	last4 := accountEnd(accountNumber(bank))
	if last4 == "" {
		return command.Require{}, because(reasonAccount)
	}
	if d.echo.Test {
		d.echo.Account, d.echo.AccountType = "", ""
		return command.Require{}, because(reasonNotFound)
	}
	routing := bank.Get("routingNumber")
	if !chars.Digits(routing) {
		routing = lastFour(routing) // masked; a number without visible digits proves nothing
	}
	return command.Require{MethodType: command.BankMethod, Last4: last4, Routing: routing}, problem{}
}
