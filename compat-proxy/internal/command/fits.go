package command

import (
	"strings"

	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The proxy compares each response with its request before it uses the response. An intermediary
// may send a response that v1 never sent, or one that belongs to another request.

// is reports whether text is an id of that kind.
func is(kind id.Prefix, text string) bool {
	_, err := id.Parse(kind, text)
	return err == nil
}

// holds reads a success into v, which is zero, and reports whether it matches the request. A
// success that does not match is an effect whose response was lost.
func (a answer) holds(v any, fits func() bool) bool {
	if a.decode(v) == nil && fits() {
		return true
	}
	a.distrust()
	return false
}

// resultOn is result for a call on the payment that fits accepts. A refusal with another payment
// belongs to another call.
func (a answer) resultOn(fits func(*v1.Transaction) bool) Result {
	t := a.err.Transaction
	if t == nil || a.err.Code == CodeKeyReused || fits(t) {
		return a.result()
	}
	a.distrust()
	return Result{Outcome: Uncertain, Status: a.status, claimed: a.claimed}
}

// named returns a function that reports whether a payment has that id.
func named(txn string) func(*v1.Transaction) bool {
	return func(t *v1.Transaction) bool { return t.ID == txn }
}

// answers reports whether t matches the request c. The approved amount may be lower.
func answers(t *v1.Transaction, c *v1.TransactionCreate) bool {
	if !is(id.Transaction, t.ID) || t.Amount != c.Amount || t.Currency != c.Currency || !echoes(t.Reference, c.Reference) {
		return false
	}
	switch {
	case c.Customer != nil && t.Customer != nil && *c.Customer != *t.Customer:
		return false
	case c.Card != nil && t.Card != nil:
		return endsIn(c.Card.Number, t.Card.Last4)
	case c.NetworkToken != nil && t.NetworkToken != nil:
		return endsIn(c.NetworkToken.Number, t.NetworkToken.Last4)
	case c.BankAccount != nil && t.BankAccount != nil:
		return endsIn(c.BankAccount.AccountNumber, t.BankAccount.Last4)
	}
	return true
}

// echoes reports whether v1 returned the reference that it was given. Without one, any value fits.
func echoes(got, asked *string) bool { return text(asked) == "" || text(got) == *asked }

// endsIn reports whether number ends so. V1 shows fewer digits of a short number.
func endsIn(number secret.String, end string) bool { return strings.HasSuffix(number.Reveal(), end) }

// captures reports whether made matches the request c on the payment with the id txn. t is the
// payment if it was read, else nil.
func captures(made *v1.Capture, c *v1.CaptureCreate, txn string, t *v1.Transaction) bool {
	return is(id.Capture, made.ID) && made.Transaction == txn && (c.Amount == nil || made.Amount == *c.Amount) &&
		(t == nil || made.Currency == t.Currency) && echoes(made.Reference, c.Reference)
}

// refunds reports whether made matches the request c, in that currency.
func refunds(made *v1.Refund, c *v1.RefundCreate, currency string) bool {
	if !is(id.Refund, made.ID) || made.Transaction != c.Transaction || made.Currency != currency ||
		!echoes(made.Reference, c.Reference) {
		return false
	}
	switch {
	case c.Amount != nil && made.Amount != *c.Amount, c.Capture != nil && text(made.Capture) != *c.Capture:
		return false
	case c.Card != nil && made.Card != nil:
		return endsIn(c.Card.Number, made.Card.Last4)
	case c.BankAccount != nil && made.BankAccount != nil:
		return endsIn(c.BankAccount.AccountNumber, made.BankAccount.Last4)
	}
	return true
}
