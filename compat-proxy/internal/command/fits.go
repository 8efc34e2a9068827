package command

import (
	"strings"

	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// What answers is judged by what was asked before anybody is told of it: an intermediary may answer with something of its own, or give one
// request the answer to another.

// is reports whether text is an id of that kind.
func is(kind id.Prefix, text string) bool {
	_, err := id.Parse(kind, text)
	return err == nil
}

// holds reads a success into v, which is zero, and reports whether that is what was asked for. One that is not is an effect whose answer was
// lost.
func (a answer) holds(v any, fits func() bool) bool {
	if a.decode(v) == nil && fits() {
		return true
	}
	a.distrust()
	return false
}

// resultOn is result for a call on the payment that fits knows. A refusal that tells of another one answers another call.
func (a answer) resultOn(fits func(*v1.Transaction) bool) Result {
	t := a.err.Transaction
	if t == nil || a.err.Code == CodeKeyReused || fits(t) {
		return a.result()
	}
	a.distrust()
	return Result{Outcome: Uncertain, Status: a.status, claimed: a.claimed}
}

// named reports that a payment has that id.
func named(txn string) func(*v1.Transaction) bool {
	return func(t *v1.Transaction) bool { return t.ID == txn }
}

// answers reports whether t is what c asked for. It may have been approved for less.
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

// echoes reports whether v1 gives back the reference that it was given; of none it may say anything.
func echoes(got, asked *string) bool { return text(asked) == "" || text(got) == *asked }

// endsIn reports whether number has that end, of which v1 tells less for a short one.
func endsIn(number secret.String, end string) bool { return strings.HasSuffix(number.Reveal(), end) }

// captures reports whether made is what c asked for of the payment with the id txn. t is what is known of that; it may be nil.
func captures(made *v1.Capture, c *v1.CaptureCreate, txn string, t *v1.Transaction) bool {
	return is(id.Capture, made.ID) && made.Transaction == txn && (c.Amount == nil || made.Amount == *c.Amount) &&
		(t == nil || made.Currency == t.Currency) && echoes(made.Reference, c.Reference)
}

// refunds reports whether made is what c asked for, in that currency.
func refunds(made *v1.Refund, c *v1.RefundCreate, currency string) bool {
	if !is(id.Refund, made.ID) || made.Transaction != c.Transaction || made.Currency != currency || !echoes(made.Reference, c.Reference) {
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
