package engine

import "github.com/causeway-pay/causeway/core/internal/payment"

// The codes of payment that the engine uses.
const (
	cardDeclined     = payment.CardDeclined
	acquirerDeclined = payment.AcquirerDeclined
	notProcessed     = payment.NotProcessed
	keyNotRollable   = payment.KeyNotRollable
	invalidValue     = payment.InvalidValue
	keyReused        = payment.KeyReused
)

// unprocessed returns the reason of a capture, void or refund that the acquirer never processed.
func unprocessed() *payment.Refusal {
	return &payment.Refusal{Code: notProcessed, Message: "No money was moved: the acquirer never processed this step, or reversed it."}
}

// unavailable returns the reason of a capture, void or refund whose request certainly did not reach
// the acquirer.
func unavailable() *payment.Refusal {
	return &payment.Refusal{
		Code: payment.AcquirerUnavailable, Message: "The acquirer could not be reached. Nothing was changed.",
	}
}
