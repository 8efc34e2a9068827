package providera

import (
	"strconv"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// invoiceKey holds the invoice number of a payment whose reference is the order's number.
const invoiceKey = "own_reference"

// splitTender returns the number of the order that a request continues, which is that of its first
// payment. It returns "" for any other request.
func (d *decoder) splitTender() (command.Number, problem) {
	given := d.txn.Get("splitTenderId")
	switch n := strings.TrimLeft(given, "0"); {
	case given == "":
		return "", problem{}
	case d.reference() != "":
		return "", because(reasonSplitAndReference)
	case !chars.Digits(n):
		return "", because(reasonSplitTender)
	default:
		return command.Number(n), problem{}
	}
}

// joinOrder adds the order of a further payment to body.
func (d *decoder) joinOrder(body *v1.TransactionCreate) (command.Number, problem) {
	first, p := d.splitTender()
	if first == "" {
		return "", p
	}
	m := v1.Metadata{}
	if body.Metadata != nil {
		m = *body.Metadata
	}
	if body.Reference != nil {
		m[invoiceKey] = *body.Reference
	}
	number := string(first)
	m[command.GroupKey] = number
	body.Metadata, body.Reference = &m, &number
	return first, problem{}
}

// groupOf returns the number of a payment's order. For a partially approved payment that is its own
// number. It returns "" for a payment without an order.
func groupOf(t *v1.Transaction) string {
	if n := t.Metadata[command.GroupKey]; chars.Digits(n) && len(n) <= 19 {
		return n
	}
	if partial(t) {
		return decimal(id.Transaction, t.ID)
	}
	return ""
}

// tenderElement returns one payment of an order as an element.
func tenderElement(t *v1.Transaction) *wire.Element {
	class, why := approved, reasonApproved
	switch t.Status {
	case v1.TransactionStatusDeclined:
		class, why = declined, declineReason(t)
	case v1.TransactionStatusFailed:
		class, why = failed, reasonProcessing
	case v1.TransactionStatusProcessing, v1.TransactionStatusUnknown:
		class, why = held, reasonReview
	default:
		if partial(t) {
			class, why = held, reasonPartial
		}
	}
	currency, _ := money.Lookup(t.Currency) // v1 has no other currencies
	account, accountType := charged(t)
	var l elementList
	l.text("transId", decimal(id.Transaction, t.ID))
	l.text("responseCode", string(class))
	l.text("responseToCustomer", strconv.Itoa(int(why)))
	if t.Authorization != nil {
		l.text("authCode", v1.Text(t.Authorization.Code))
	}
	l.text("accountNumber", account)
	l.text("accountType", accountType)
	l.text("requestedAmount", majorAmount(t.Amount, currency.Exponent))
	l.text("approvedAmount", majorAmount(t.AmountAuthorized, currency.Exponent))
	l.text("balanceOnCard", balanceOf(t, currency.Exponent))
	return wire.GroupElement("splitTenderPayment", l...)
}
