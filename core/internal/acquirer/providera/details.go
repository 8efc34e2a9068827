package providera

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// state is the meaning of a transaction's status for its money.
type state string

// The states.
const (
	open      state = ""          // undecided, or a status that is not in the table
	held      state = "held"      // authorized and not captured
	taken     state = "taken"     // captured, and can still be voided
	settled   state = "settled"   // captured and settled, or about to settle
	refunding state = "refunding" // a refund that has not settled
	refunded  state = "refunded"  // a refund that has settled
	released  state = "released"  // voided or lapsed
	refused   state = "refused"   // declined or failed: it never held money
)

// states maps a transactionStatus to its state. A payment under review and a settlement that
// failed are open, because a person decides about them.
var states = map[string]state{
	"authorizedPendingCapture":   held,
	"authorizedPendingRelease":   held,
	"capturedPendingSettlement":  taken,
	"settledSuccessfully":        settled,
	"pendingSettlement":          settled,
	"pendingFinalSettlement":     settled,
	"updatingSettlement":         settled,
	"approvedReview":             settled,
	"returnedItem":               settled,
	"chargeback":                 settled,
	"chargebackReversal":         settled,
	"refundPendingSettlement":    refunding,
	"refundSettledSuccessfully":  refunded,
	"voided":                     released,
	"expired":                    released,
	statusDeclined:               refused,
	"failedReview":               refused,
	"communicationError":         refused,
	"generalError":               refused,
	"FDSPendingReview":           open,
	"FDSAuthorizedPendingReview": open,
	"underReview":                open,
	"settlementError":            open,
	"couldNotVoid":               open,
}

func (d *details) state() state { return states[d.Status.value] }

// creators are the transaction types that a kind of request can have made.
func creators(about acquirer.Sent) []string {
	switch about.Kind {
	case acquirer.Authorization:
		return []string{typeAuthorize}
	case acquirer.Sale:
		if about.Amount == 0 {
			return []string{typeAuthorize}
		}
		return []string{typeSale, typeForced}
	case acquirer.Refund, acquirer.UnlinkedRefund:
		return []string{typeRefund}
	case acquirer.Capture, acquirer.Void:
	}
	return nil
}

// madeBy reports whether a request has made the transaction. The account's other users can make
// refunds that have the invoice number of their payment.
func (d *details) madeBy(about acquirer.Sent) bool {
	return d.Order.Invoice.value == invoiceNumber(about.Reference) && slices.Contains(creators(about), d.Type.value)
}

// outcome returns the outcome of the request that made the transaction.
func (d *details) outcome(about acquirer.Sent) (acquirer.Response, error) {
	approves := map[acquirer.Kind][]state{
		acquirer.Authorization:  {held, taken, settled, released},
		acquirer.Sale:           {taken, settled, released},
		acquirer.Refund:         {refunding, refunded, released},
		acquirer.UnlinkedRefund: {refunding, refunded, released},
	}
	if about.Kind == acquirer.Sale && about.Amount == 0 {
		about.Kind = acquirer.Authorization
	}
	switch now := d.state(); {
	case !d.madeBy(about):
		return acquirer.Response{}, contradiction("another transaction")
	case now == refused:
		return d.decline(), nil
	case slices.Contains(approves[about.Kind], now):
		return d.approval(about)
	}
	return acquirer.Response{}, undecided(d)
}

// undecided reports that a transaction exists and its state does not decide about a request.
func undecided(d *details) error {
	status := d.Status.value
	if _, known := states[status]; !known {
		status = "another status"
	}
	return fmt.Errorf("providera: %w: the transaction is in %s", acquirer.ErrUnknown, status)
}

// decline returns the decline of a payment or refund. A reason can be more exact than the status.
func (d *details) decline() acquirer.Response {
	v := verdict{declined, v1.DeclineCodeGenericDecline, isoDoNotHonor}
	switch d.Status.value {
	case "communicationError":
		v = verdict{declined, v1.DeclineCodeProcessingError, isoUnreachable}
	case "generalError":
		v = verdict{declined, v1.DeclineCodeProcessingError, isoSystem}
	}
	reason, err := strconv.Atoi(d.Reason.value)
	if r := reasons[reason]; err == nil && r.class == declined {
		v = r
	}
	a := v.outcome()
	d.describe(&a)
	if d.Status.value == statusDeclined && d.Type.value != typeRefund {
		a.Network = v.network()
	}
	return a
}

// statusDeclined is the status of a payment that the network or the issuer has declined.
const statusDeclined = "declined"

// describe adds the issuer's response, in the details.
func (d *details) describe(a *acquirer.Response) {
	a.ID = number(d.ID)
	if d.Type.value == typeRefund {
		return
	}
	a.Code, a.NetworkTransactionID = authCode(d.AuthCode), networkID(d.NetworkTransactionID)
	address := d.AVS.value != ""
	a.Checks = checksOf(d.AVS, d.CVC, d.CAVV, given{d.CVC.value != "", address, address})
}

// approval returns the approval of a payment or refund, with the amount that the acquirer has
// approved.
func (d *details) approval(about acquirer.Sent) (acquirer.Response, error) {
	a := acquirer.Response{Approved: true, ResponseCode: isoApproved, Released: d.state() == released}
	amount, ok := minor(d.Authorized.value, about.Currency)
	whole := !d.Requested.given
	requested := amount
	if !whole {
		requested, _ = minor(d.Requested.value, about.Currency)
	}
	if !ok || requested != about.Amount || amount > about.Amount || amount < min(1, about.Amount) {
		return acquirer.Response{}, contradiction("amount")
	}
	a.Amount = amount
	d.describe(&a)
	if balance, ok := minor(d.Balance.value, about.Currency); ok {
		a.Balance = acquirer.Balance{Given: true, Amount: balance}
	}
	if at, err := time.Parse(time.RFC3339Nano, d.SubmittedAt.value); err == nil && d.state() == held {
		a.ExpiresAt = at.UTC().Add(authorizationLife)
	}
	return a, nil
}

// captured returns the outcome of a capture of the transaction. Only one capture is possible, so a
// captured transaction with the amount proves it.
func (d *details) captured(amount int64, currency string) (acquirer.Response, error) {
	switch d.state() {
	case taken, settled:
		if got, ok := minor(d.Settled.value, currency); !ok || got != amount {
			return acquirer.Response{}, contradiction("captured amount")
		}
		return acquirer.Response{Approved: true, ResponseCode: isoApproved, ID: number(d.ID), Amount: amount}, nil
	case released, refused:
		return verdict{declined, v1.DeclineCodeProcessingError, isoInvalid}.outcome(), nil
	case open, held, refunding, refunded:
	}
	return acquirer.Response{}, undecided(d)
}

// voided returns the outcome of a void of the transaction. A transaction that holds no money any
// more needs no void. One that has settled cannot be voided.
func (d *details) voided(amount int64) (acquirer.Response, error) {
	switch d.state() {
	case released, refused:
		return acquirer.Response{Approved: true, ResponseCode: isoApproved, ID: number(d.ID), Amount: amount}, nil
	case settled, refunded:
		return verdict{declined, v1.DeclineCodeProcessingError, isoInvalid}.outcome(), nil
	case open, held, taken, refunding:
	}
	return acquirer.Response{}, undecided(d)
}

// uncaptured returns the approval to drop a capture that the transaction does not have. A
// transaction that is captured shows the capture to the next inquiry.
func (d *details) uncaptured(amount int64) (acquirer.Response, error) {
	if now := d.state(); now != held && now != released && now != refused {
		return acquirer.Response{}, undecided(d)
	}
	return acquirer.Response{Approved: true, ResponseCode: isoApproved, ID: number(d.ID), Amount: amount}, nil
}

// awaits reports whether a capture or void can still have its effect on the transaction, and has
// none so far.
func (d *details) awaits(kind acquirer.Kind) bool {
	return d.state() == held || kind == acquirer.Void && d.state() == taken
}

// voidable reports whether a void can still release the transaction's money.
func (d *details) voidable() bool { return slices.Contains([]state{held, taken, refunding}, d.state()) }

// source returns the payment of a refund: the masked source of the transaction. last4 is the end of
// the source's number as the engine has it, "" if it does not.
func (d *details) source(last4 string) (payment, error) {
	var out payment
	end := ""
	switch p := d.Payment; {
	case p.Card != nil:
		out.Card, end = &creditCard{Number: p.Card.Number.value, Expiration: hiddenMonth}, p.Card.Number.value
	case p.Token != nil:
		out.Card, end = &creditCard{Number: p.Token.Number.value, Expiration: hiddenMonth}, p.Token.Number.value
	case p.Bank != nil:
		out.Bank = &bankAccount{
			Type: p.Bank.Type.value, Routing: p.Bank.Routing.value, Number: p.Bank.Number.value,
			Holder: cut(p.Bank.Holder.value, 22),
		}
		end = p.Bank.Number.value
	}
	digits := strings.TrimLeft(end, "Xx")
	if digits == "" || last4 != "" && !strings.HasSuffix(last4, digits) && !strings.HasSuffix(digits, last4) {
		return payment{}, contradiction("source of the original")
	}
	return out, nil
}
