package engine

import "github.com/causeway-pay/causeway/core/internal/payment"

// The codes of the engine's own refusals.
const (
	cardDeclined     = "card_declined"     // the acquirer declined a payment
	acquirerDeclined = "acquirer_declined" // the acquirer declined a capture, void or refund
	notProcessed     = "not_processed"     // the acquirer never received a step
	keyNotRollable   = "api_key_not_rollable"
	invalidValue     = "invalid_value"
	keyReused        = "idempotency_key_reused" // another request was sent with the key
)

// unprocessed returns the reason of a capture, void or refund that the acquirer never processed.
func unprocessed() *payment.Refusal {
	return &payment.Refusal{Code: notProcessed, Message: "No money was moved: the acquirer never processed this step, or reversed it."}
}

// unavailable returns the reason of a capture or refund whose request certainly did not reach the
// acquirer.
func unavailable() *payment.Refusal {
	return &payment.Refusal{
		Code: payment.AcquirerUnavailable, Message: "The acquirer could not be reached. Nothing was changed.",
	}
}
