package command

import (
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Outcome says what became of a command.
type Outcome string

// The outcomes. Only Done and Uncertain may have moved money.
const (
	Done        Outcome = "done"        // v1 did it
	Declined    Outcome = "declined"    // the issuer or acquirer said no; Transaction tells why
	Unmet       Outcome = "unmet"       // a condition of the command did not hold; v1 was asked to change nothing
	NotFound    Outcome = "not_found"   // no such transaction; Refund is set when the number is a refund's
	Refused     Outcome = "refused"     // v1 refused with Code; nothing moved
	Unavailable Outcome = "unavailable" // v1 could not take the request; nothing moved
	Uncertain   Outcome = "uncertain"   // the answer was lost, or v1 itself does not know yet
	Repeated    Outcome = "repeated"    // an equal request was made within the window of Once; v1 was asked for nothing new
)

// Condition is the one that was not met.
type Condition string

// The conditions: those of Require, and the amount's precision.
const (
	ConditionSettled  Condition = "settled"
	ConditionKind     Condition = "kind" // a card in the place of a bank account, or the other way round
	ConditionLast4    Condition = "last4"
	ConditionRouting  Condition = "routing"
	ConditionCurrency Condition = "currency"
	ConditionSource   Condition = "source"   // another customer or payment method
	ConditionShipping Condition = "shipping" // the customer has no shipping address
	ConditionBrand    Condition = "brand"    // the stored card is of none that is taken; Methods has it
	ConditionAmount   Condition = "amount"   // not a whole number of minor units, or not positive
	ConditionRange    Condition = "range"    // beyond the greatest amount there is, so beyond the target's
)

// Result is what became of one command.
type Result struct {
	Outcome Outcome `json:"outcome"`
	// Unmet is set with the outcome of that name.
	Unmet Condition `json:"unmet,omitempty"`
	// Status, Code and Param are those of v1's refusal; Status is 0 when v1 never answered.
	Status int    `json:"status,omitempty"`
	Code   string `json:"code,omitempty"`
	Param  string `json:"param,omitempty"`
	// Transaction is the freshest known state of the payment meant: the effect's, else the one that came with a refusal, else the one
	// read before. Nil when none was seen.
	Transaction *v1.Transaction `json:"transaction,omitempty"`
	Capture     *v1.Capture     `json:"capture,omitempty"`
	Refund      *v1.Refund      `json:"refund,omitempty"`
	// Group is what an order's payments are now, when the command was on one of several.
	Group []v1.Transaction `json:"group,omitempty"`
	// Customer is the one that was made; with Repeated, the one that there was. Methods are its payment methods in the order asked for, or
	// the one that was not charged.
	Customer *v1.Customer       `json:"customer,omitempty"`
	Methods  []v1.PaymentMethod `json:"methods,omitempty"`
	Token    *v1.Token          `json:"token,omitempty"`
	// Place is that of the payment method that v1 refused, counted from 1.
	Place int `json:"place,omitzero"`

	// Fresh tells of a Named command that v1 did it now, or the issuer declined it now: this is not the answer to an earlier one of that name.
	Fresh bool `json:"fresh,omitzero"`

	// replayed: the response is v1's to an earlier request under the same key, and not to this one.
	replayed bool
	// stored: v1 had the response before the last attempt; it may be that to an earlier attempt.
	stored bool
	// claimed: v1 may have claimed the key before the response, and freed it since.
	claimed bool
	// made is when v1 made the payment or refund that the response describes; zero if the response
	// does not contain the time.
	made time.Time
	// resource is the id of what a Repeated request is the repetition of, where only that is known.
	resource string
}

// The v1 error codes that results are judged by, here and in the encoders.
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
	CodeNotProcessed          = "not_processed" // the acquirer never had the payment
	CodeAcquirerNotConfigured = "acquirer_not_configured"
	CodeAcquirerUnavailable   = "acquirer_unavailable"
	CodeUnlinkedRefunds       = "unlinked_refunds_not_allowed"
	CodeMerchantDisabled      = "merchant_disabled"
	CodeKeyInUse              = "idempotency_key_in_use"
	CodeKeyReused             = "idempotency_key_reused"
	CodeUnknownCustomer       = "unknown_customer"
	CodeUnknownMethod         = "unknown_payment_method"
	CodeMissingField          = "missing_field"
	CodeListTimeout           = "list_timeout" // of a read, so it had no effect
)

// CodeNameSpent is ours: requests under the name of a Named command were refused too often, or too long ago, for another to be tried. None
// had an effect, and neither had this one.
const CodeNameSpent = "name_spent"

// CodeFailed is ours: v1 answered with a payment that has failed or was reversed.
const CodeFailed = "transaction_failed"
