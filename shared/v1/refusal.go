package v1

import "slices"

// keptRefusals are the error codes that core stores under the Idempotency-Key, because a retry
// could otherwise succeed. The check depends on the time or on stored objects and settings.
var keptRefusals = []string{
	CodeExpiredCard, CodeTokenUsed, CodeTokenExpired, "token_code_lost", CodeUnlinkedRefunds,
	"invalid_client_secret", "too_many_confirmations", "too_many_payment_methods",
	"too_many_shipping_addresses", "webhook_endpoint_limit", "webhook_endpoint_disabled", "last_api_key", "api_key_limit",
}

// lastingRefusals are the codes of refusals that every repeated request gets. They depend on the
// request alone, name an object that does not exist or has ended, or are the stored result of a
// step. The code idempotency_key_reused is not one of them: core may free the key while the request
// that has it runs.
var lastingRefusals = []string{
	"not_found", CodeUnknownMethod, CodeUnknownCustomer,

	"unknown_field", "duplicate_field", CodeMissingField, "invalid_type", "invalid_value", "invalid_amount",
	"unknown_currency", "invalid_card_number", "invalid_cvc",

	"card_declined", "acquirer_declined", CodeVersionConflict,
	CodeNotCapturable, CodeNotVoidable, CodeNotRefundable,
	CodeExceedsCapturable, CodeExceedsRefundable,
}

// freeingRefusals are the error codes that free the request's Idempotency-Key, because nothing was
// sent to the acquirer.
var freeingRefusals = []string{CodeAcquirerUnavailable, CodeNotProcessed}

// FreesKey reports whether a refusal with the code frees the request's Idempotency-Key. Between the
// claim and the refusal, core refused the key to other requests.
func FreesKey(code string) bool { return slices.Contains(freeingRefusals, code) }

// KeepsRefusal reports whether core stores every refusal with the code under the request's
// Idempotency-Key.
func KeepsRefusal(code string) bool { return slices.Contains(keptRefusals, code) }

// SettlingRefusals returns the codes of refusals that settle an Idempotency-Key. Core looks the key
// up before it refuses with one of them, and refuses every later request with that key and body. So
// no such request had an effect, and none can have one. After any other refusal a delayed request
// can still take the key.
func SettlingRefusals() []string { return slices.Concat(keptRefusals, lastingRefusals) }
