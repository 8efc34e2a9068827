package providera

import (
	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/parity"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// credit decodes an unlinked refund: it pays to a card or bank account given in full.
func (d *decoder) credit() (command.Command, problem) {
	if p := d.payment(); !p.none() {
		return nil, p
	}
	currency, p := d.currency()
	if !p.none() {
		return nil, p
	}
	amount, p := minorAmount(d.txn.Get("amount"), currency)
	switch {
	case !p.none():
		return nil, p
	case amount == 0:
		return nil, because(reasonAmount)
	}
	payee := v1.TransactionCreate{Currency: currency.Code, Capture: new(v1.CaptureModeAutomatic)}
	if p := d.source(&payee); !p.none() {
		return nil, p
	}
	if token := payee.NetworkToken; token != nil {
		if !d.basis.rules.Has(parity.NetworkTokenCredit) {
			return nil, because(reasonNotAccepted)
		}
		payee.PaymentMethod = "card"
		payee.Card = &v1.CardInput{Number: token.Number, ExpMonth: token.ExpMonth, ExpYear: token.ExpYear}
	}
	d.held = payee.BankAccount != nil && d.basis.rules.Has(parity.BankCreditReview)
	if payee.Card != nil {
		payee.Card.Cvc = nil // a refund needs no security code
	}
	body := v1.RefundCreate{
		Amount: &amount, Currency: &currency.Code, PaymentMethod: &payee.PaymentMethod, Card: payee.Card,
		BankAccount: payee.BankAccount, Reference: textOrNil(d.txn.Get("order", "invoiceNumber")),
	}
	if m := d.metadata(); len(m) > 0 {
		metadata := v1.Metadata(m)
		body.Metadata = &metadata
	}
	return command.Credit{Body: body, Deduplication: d.deduplication()}, problem{}
}

// payable reports whether a refund has a full card number or a bank account. A client that sends
// only the end of a number has forgotten to name the payment.
func (d *decoder) payable() bool {
	if _, named := d.namedProfile(); named {
		return false // v1 would not check that the payment belongs to the caller
	}
	number := d.txn.Get("payment", "creditCard", "cardNumber")
	return !d.txn.Has("payment", "creditCard") || chars.Digits(number) && len(number) > 4
}

// credited returns a payment for an unlinked refund, so that a response can show it like any other.
func credited(r *v1.Refund) *v1.Transaction {
	return &v1.Transaction{
		Mode: r.Mode, Currency: r.Currency, Card: r.Card, BankAccount: r.BankAccount, PaymentMethod: v1.Text(r.PaymentMethod),
	}
}
