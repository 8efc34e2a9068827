package command

import v1 "github.com/causeway-pay/causeway/shared/v1"

// SaleKey is the metadata entry of a payment that marks a sale made in two steps. With the value
// SaleMark, the client wanted it captured immediately.
const (
	SaleKey  = "captured_by"
	SaleMark = "creation"
)

// Reverse releases a payment of which its client has captured nothing: an authorization, or a sale
// that has not settled. V1's void would cancel captures too, so a payment that was captured later
// is Refused with v1.CodeNotVoidable.
type Reverse struct {
	Target Number `json:"target,omitempty"`
	// Name is that of the Named Authorize that made the payment. It counts if Target is empty. The
	// name of a Named Capture is Refused with the payment and v1.CodeNotVoidable. The name of a Named
	// Refund or Credit is NotFound with the refund. A step that failed is NotFound alone.
	Name string `json:"name,omitempty"`
	// Amount is a canonical decimal in major units of the payment's currency. Any amount but the
	// payment's whole amount is Unmet. Empty means all.
	Amount  string  `json:"amount,omitempty"`
	Require Require `json:"require,omitzero"`
}

// CancelCapture cancels one capture that has not settled. Target is its number, or that of the
// payment of which it is the only capture. The number of a payment without a capture releases the
// payment. V1 voids whole payments, so a payment with other captures, or a partly captured one, is
// Refused with v1.CodeNotVoidable. A sale's name stands for the whole sale, captured or not.
type CancelCapture struct {
	Target Number `json:"target,omitempty"`
	// Name is that of the Named Capture, or of the Named Authorize of a sale. It counts if Target is
	// empty. The name of a Named Refund or Credit is NotFound with the refund, unless that failed.
	Name string `json:"name,omitempty"`
}

// Kind implements Command.
func (Reverse) Kind() Kind { return PaymentVoid }

// Kind implements Command.
func (CancelCapture) Kind() Kind { return PaymentVoid }

// Sale reports whether the payment was made to be captured immediately.
func Sale(t *v1.Transaction) bool {
	return t.Capture == v1.CaptureModeAutomatic || t.Metadata[SaleKey] == SaleMark
}
