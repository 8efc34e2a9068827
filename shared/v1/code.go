package v1

// The error codes on which a client decides. The list in the contract is complete.
const (
	CodeNotCapturable         = "transaction_not_capturable"
	CodeNotVoidable           = "transaction_not_voidable"
	CodeNotRefundable         = "transaction_not_refundable"
	CodeExceedsCapturable     = "amount_exceeds_capturable"
	CodeExceedsRefundable     = "amount_exceeds_refundable"
	CodeOperationInProgress   = "operation_in_progress"
	CodeVersionConflict       = "version_conflict" // the payment has changed since it was read
	CodeExpiredCard           = "expired_card"
	CodeOutcomeUnknown        = "outcome_unknown"
	CodeNotProcessed          = "not_processed" // the payment never reached the acquirer
	CodeAcquirerNotConfigured = "acquirer_not_configured"
	CodeAcquirerUnavailable   = "acquirer_unavailable"
	CodeUnlinkedRefunds       = "unlinked_refunds_not_allowed"
	CodeInvalidAPIKey         = "invalid_api_key"
	CodeMerchantDisabled      = "merchant_disabled"
	CodeAddressNotAllowed     = "address_not_allowed"
	CodeMLERequired           = "mle_required"
	CodeKeyInUse              = "idempotency_key_in_use"
	CodeKeyReused             = "idempotency_key_reused"
	CodeUnknownCustomer       = "unknown_customer"
	CodeUnknownMethod         = "unknown_payment_method"
	CodeTooManyAddresses      = "too_many_shipping_addresses"
	CodeMissingField          = "missing_field"
	CodeTokenExpired          = "token_expired"
	CodeTokenUsed             = "token_used"
	CodeListTimeout           = "list_timeout"     // of a read, so it had no effect
	CodeTooManyChanges        = "too_many_changes" // a change waited too long for other changes of the merchant
	CodeRateLimited           = "rate_limited"     // a call beyond the rate limit of the merchant
	CodeOverloaded            = "overloaded"       // too many requests are in progress
)
