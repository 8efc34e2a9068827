package payment

import "fmt"

// Refusal is the reason why a step was refused. Its code is a code of the contract.
type Refusal struct {
	Code    string
	Message string
	Param   string // the field at fault, "" when it is the transaction's state
}

// The codes of refusals.
const (
	NotConfirmable          = "transaction_not_confirmable"
	NotChangeable           = "transaction_not_changeable"
	TransactionChanged      = "transaction_changed"
	NotCapturable           = "transaction_not_capturable"
	NotVoidable             = "transaction_not_voidable"
	NotRefundable           = "transaction_not_refundable"
	NotSettleable           = "transaction_not_settleable"
	NotExpirable            = "transaction_not_expirable"
	AmountExceedsCapturable = "amount_exceeds_capturable"
	AmountExceedsRefundable = "amount_exceeds_refundable"
	OperationInProgress     = "operation_in_progress"
	VersionConflict         = "version_conflict"
	AcquirerUnavailable     = "acquirer_unavailable"
	CardDeclined            = "card_declined"     // the acquirer declined a payment
	AcquirerDeclined        = "acquirer_declined" // the acquirer declined a capture, void or refund
	NotProcessed            = "not_processed"     // the acquirer never received a step
	KeyNotRollable          = "api_key_not_rollable"
	InvalidValue            = "invalid_value"
	KeyReused               = "idempotency_key_reused" // another request was sent with the key
)

// isNot returns the message for a transaction whose status does not allow a step.
func isNot(status Status, wanted, done string) string {
	return "The transaction is " + string(status) + ". Only one that is " + wanted + " can be " + done + "."
}

// Busy returns the refusal while the acquirer's response to an earlier step is missing.
func Busy() *Refusal {
	return &Refusal{
		Code:    OperationInProgress,
		Message: "Another operation on this transaction is in progress. Retry after the seconds in Retry-After.",
	}
}

// WhyNoConfirm returns why the transaction cannot be confirmed now, or nil if it can.
func (t *Transaction) WhyNoConfirm() *Refusal {
	switch {
	case t.Status.Open():
		return Busy()
	case t.Status != RequiresConfirmation:
		return &Refusal{Code: NotConfirmable, Message: isNot(t.Status, "requires_confirmation", "confirmed")}
	}
	return nil
}

// WhyNoConfirmOf returns why a confirmation of an amount cannot confirm the transaction now, or nil
// if it can. The payer has seen the amount. An empty currency names none.
func (t *Transaction) WhyNoConfirmOf(amount int64, currency string) *Refusal {
	why := t.WhyNoConfirm()
	switch {
	case why != nil || currency == "" && !t.AmountChanged:
		return why
	case currency == "":
		return &Refusal{
			Code: TransactionChanged, Param: "amount",
			Message: "The amount was changed after the creation. Send the amount and currency that the payer has seen.",
		}
	case amount != t.Amount || currency != t.Currency:
		return &Refusal{
			Code: TransactionChanged, Param: "amount",
			Message: fmt.Sprintf("The payer has seen %d %s, but the transaction is for %d %s. Show that amount, and send it.",
				amount, currency, t.Amount, t.Currency),
		}
	}
	return nil
}

// WhyNoChange returns why the merchant cannot change the transaction now, or nil if that is
// possible. early is a field that can change only before the confirmation, "" for none. While a
// request works on the authorization, its outcome would show the old fields.
func (t *Transaction) WhyNoChange(early string) *Refusal {
	switch {
	case t.Status == Processing:
		return Busy()
	case early != "" && t.Status != RequiresConfirmation:
		return &Refusal{
			Code: NotChangeable, Param: early, Message: isNot(t.Status, "requires_confirmation", "changed in this field"),
		}
	}
	return nil
}

// WhyNoCapture returns why amount (0 for the whole rest) cannot be captured now, or nil if it can.
func (t *Transaction) WhyNoCapture(amount int64) *Refusal {
	switch {
	case t.Operation != NoOperation || t.Status.Open():
		return Busy()
	case t.Status != Authorized && t.Status != PartiallyCaptured:
		return &Refusal{Code: NotCapturable, Message: isNot(t.Status, "authorized or partially_captured", "captured")}
	case t.Authorized == 0:
		return &Refusal{Code: NotCapturable, Message: "The transaction only verified the card: it has no amount to capture."}
	case t.CapturesBegun >= MaxCaptures:
		return &Refusal{
			Code:    NotCapturable,
			Message: fmt.Sprintf("The transaction has %d captures, which is the limit.", MaxCaptures),
		}
	case max(amount, 1) > t.Capturable():
		return &Refusal{
			Code: AmountExceedsCapturable, Param: "amount",
			Message: fmt.Sprintf("The amount is more than amount_capturable, which is %d.", t.Capturable()),
		}
	}
	return nil
}

// WhyNoVoid returns why the transaction cannot be voided now, or nil if it can.
func (t *Transaction) WhyNoVoid() *Refusal {
	switch {
	case t.Operation != NoOperation || t.Status.Open() || t.RefundPending > 0:
		return Busy()
	case t.Status == RequiresConfirmation: // it is canceled
		return nil
	case t.Status != Authorized && t.Status != PartiallyCaptured && t.Status != Captured:
		return &Refusal{
			Code:    NotVoidable,
			Message: isNot(t.Status, "requires_confirmation, authorized, partially_captured or captured", "voided"),
		}
	case t.Settled > 0 && t.Capturable() > 0:
		return &Refusal{
			Code: NotVoidable,
			Message: "Captured money has settled: refund it. A final capture releases the rest of the authorization, or its " +
				"expiry does.",
		}
	case t.Settled > 0:
		return &Refusal{Code: NotVoidable, Message: "Captured money has settled: refund it instead."}
	case t.Refunded > 0:
		return &Refusal{Code: NotVoidable, Message: "Part of the transaction was refunded: refund the rest instead."}
	}
	return nil
}

// WhyNoVoidOf returns why the transaction cannot be voided now, or nil if it can. expected is the
// version that the client has read, nil for any.
func (t *Transaction) WhyNoVoidOf(expected *int64) *Refusal {
	if r := t.WhyNoVoid(); r != nil || expected == nil || *expected == t.Version {
		return r
	}
	return Conflict(*expected, t.Version)
}

// Conflict returns the refusal of a request that expects another version than the object has.
func Conflict(expected, version int64) *Refusal {
	return &Refusal{
		Code: VersionConflict, Param: "expected_version",
		Message: fmt.Sprintf("Expected version %d, but the object has version %d: it has changed. Read it again.", expected,
			version),
	}
}

// WhyNoRefund returns why amount (0 for the whole rest) cannot be refunded now, or nil if it can.
func (t *Transaction) WhyNoRefund(amount int64) *Refusal {
	switch {
	case t.Operation == VoidOperation || t.Status.Open():
		return Busy()
	case t.Status != Captured && t.Status != PartiallyCaptured:
		return &Refusal{Code: NotRefundable, Message: isNot(t.Status, "captured or partially_captured", "refunded")}
	case t.Refundable() == 0 && t.RefundPending > 0:
		return Busy()
	case t.Refundable() == 0:
		return &Refusal{Code: NotRefundable, Message: "The transaction was already refunded in full."}
	case amount > t.Refundable():
		return &Refusal{
			Code: AmountExceedsRefundable, Param: "amount",
			Message: fmt.Sprintf("The amount is more than amount_refundable, which is %d.", t.Refundable()),
		}
	}
	return nil
}

// WhyNoSettle returns why there is nothing to settle, or nil if there is.
func (t *Transaction) WhyNoSettle() *Refusal {
	switch {
	case t.Operation != NoOperation:
		return Busy()
	case t.Settlement() != SettlementPending:
		return &Refusal{Code: NotSettleable, Message: "The transaction has no captured money to settle."}
	}
	return nil
}

// WhyNoExpire returns why a transaction cannot expire: it has no open authorization, and does not
// wait to be confirmed. It returns nil if it can.
func (t *Transaction) WhyNoExpire() *Refusal {
	switch {
	case t.Operation != NoOperation || t.Status.Open():
		return Busy()
	case t.Status != Authorized && t.Status != PartiallyCaptured && t.Status != RequiresConfirmation:
		return &Refusal{
			Code:    NotExpirable,
			Message: isNot(t.Status, "authorized, partially_captured or requires_confirmation", "expired"),
		}
	}
	return nil
}

// WhyNoRefund returns why amount (0 for the whole rest) of this capture cannot be refunded now, or
// nil if it can. It checks the capture alone.
func (c *Capture) WhyNoRefund(amount int64) *Refusal {
	switch {
	case c.State == StepPending:
		return Busy()
	case c.State != StepSucceeded:
		return &Refusal{
			Code: NotRefundable, Param: "capture",
			Message: "The capture is " + string(c.State) + ". Only one that is succeeded can be refunded.",
		}
	case c.Refundable() == 0 && c.RefundPending > 0:
		return Busy()
	case c.Refundable() == 0:
		return &Refusal{Code: NotRefundable, Param: "capture", Message: "The capture was already refunded in full."}
	case amount > c.Refundable():
		return &Refusal{
			Code: AmountExceedsRefundable, Param: "amount",
			Message: fmt.Sprintf("The amount is more than the capture's refundable amount, which is %d.", c.Refundable()),
		}
	}
	return nil
}
