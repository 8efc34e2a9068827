package command

import (
	"strconv"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Identifying returns the identifying fields of a customer.
func Identifying(in v1.CustomerInput) []string {
	return []string{v1.Text(in.Reference), v1.Text(in.Description), v1.Text(in.Email)}
}

// Identity returns the fields of the payment: its amount, its payment source, and whether it is
// captured immediately.
func (c Authorize) Identity() []string {
	b := c.Body
	parts := []string{string(c.Kind()), strconv.FormatInt(b.Amount, 10), b.Currency, b.PaymentMethod}
	if b.Capture != nil {
		parts = append(parts, string(*b.Capture))
	}
	if b.Customer != nil {
		parts = append(parts, "customer", *b.Customer)
	}
	parts = append(parts, cardIdentity(b.Card)...)
	if b.NetworkToken != nil {
		parts = append(parts, b.NetworkToken.Number.Reveal(), strconv.Itoa(b.NetworkToken.ExpMonth),
			strconv.Itoa(b.NetworkToken.ExpYear))
	}
	return append(parts, bankIdentity(b.BankAccount)...)
}

// Identity returns the fields of the refund: its amount and its receiver.
func (c Credit) Identity() []string {
	b := c.Body
	parts := []string{string(c.Kind()), "", strconv.FormatInt(*b.Amount, 10), *b.Currency, *b.PaymentMethod}
	return append(append(parts, cardIdentity(b.Card)...), bankIdentity(b.BankAccount)...)
}

func cardIdentity(c *v1.CardInput) []string {
	if c == nil {
		return nil
	}
	return []string{c.Number.Reveal(), strconv.Itoa(c.ExpMonth), strconv.Itoa(c.ExpYear)}
}

func bankIdentity(b *v1.BankAccountInput) []string {
	if b == nil {
		return nil
	}
	return []string{b.RoutingNumber, b.AccountNumber.Reveal()}
}

// Identity returns the fields of the refund: its amount and its payment.
func (c Refund) Identity() []string {
	last4 := c.Require.Last4
	if c.Require.MethodType == BankMethod {
		last4 = "" // clients send the end of a short account number in several lengths; the target has one account
	}
	parts := []string{string(c.Kind()), string(c.Target), c.Amount, c.Require.Currency, last4}
	if c.Require.Customer != "" {
		parts = append(parts, "customer", c.Require.Customer, c.Require.Method)
	}
	return parts
}
