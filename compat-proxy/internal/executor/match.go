package executor

import (
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The proxy compares each response with its request before it uses the response. An intermediary
// may send a response that v1 never sent, or one that belongs to another request.

// isID reports whether text is an id with that prefix.
func isID(prefix id.Prefix, text string) bool {
	_, err := id.Parse(prefix, text)
	return err == nil
}

// resultOn returns the result of a refused call on a payment. matches reports whether a payment is
// that one. A refusal with another payment belongs to another call.
func (resp response) resultOn(matches func(*v1.Transaction) bool) command.Result {
	t := resp.Err.Transaction
	if t == nil || resp.Err.Code == v1.CodeKeyReused || matches(t) {
		return resp.result()
	}
	resp.Distrust()
	return command.Result{Outcome: command.Uncertain, Status: resp.Status, Origin: command.Origin{Claimed: resp.Claimed}}
}

// hasID returns a function that reports whether a payment has that id.
func hasID(txn string) func(*v1.Transaction) bool {
	return func(t *v1.Transaction) bool { return t.ID == txn }
}

// matchesPayment reports whether t matches the request c. The approved amount may be lower.
func matchesPayment(t *v1.Transaction, c *v1.TransactionCreate) bool {
	if !isID(id.Transaction, t.ID) || t.Amount != c.Amount || t.Currency != c.Currency ||
		!sameReference(t.Reference, c.Reference) {
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

// sameReference reports whether v1 returned the reference that it was given. Without one, any value
// matches.
func sameReference(got, sent *string) bool { return v1.Text(sent) == "" || v1.Text(got) == *sent }

// endsIn reports whether number ends in end. V1 shows fewer digits of a short number.
func endsIn(number secret.String, end string) bool { return strings.HasSuffix(number.Reveal(), end) }

// matchesCapture reports whether made matches the request c on the payment with the id txn. t is
// the payment if it was read, else nil.
func matchesCapture(made *v1.Capture, c *v1.CaptureCreate, txn string, t *v1.Transaction) bool {
	return isID(id.Capture, made.ID) && made.Transaction == txn && (c.Amount == nil || made.Amount == *c.Amount) &&
		(t == nil || made.Currency == t.Currency) && sameReference(made.Reference, c.Reference)
}

// matchesRefund reports whether made matches the request c, in that currency.
func matchesRefund(made *v1.Refund, c *v1.RefundCreate, currency string) bool {
	if !isID(id.Refund, made.ID) || made.Transaction != c.Transaction || made.Currency != currency ||
		!sameReference(made.Reference, c.Reference) {
		return false
	}
	switch {
	case c.Amount != nil && made.Amount != *c.Amount, c.Capture != nil && v1.Text(made.Capture) != *c.Capture:
		return false
	case c.Card != nil && made.Card != nil:
		return endsIn(c.Card.Number, made.Card.Last4)
	case c.BankAccount != nil && made.BankAccount != nil:
		return endsIn(c.BankAccount.AccountNumber, made.BankAccount.Last4)
	}
	return true
}
