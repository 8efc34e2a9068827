package command

import (
	"net/http"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Outcome is how a command ended.
type Outcome string

// The outcomes. Only Done and Uncertain may have moved money.
const (
	Done        Outcome = "done"        // v1 did it
	Declined    Outcome = "declined"    // the issuer or acquirer declined; Transaction has the reason
	Unmet       Outcome = "unmet"       // a condition of the command did not hold; v1 was sent no change
	NotFound    Outcome = "not_found"   // no such transaction; Refund is set if a refund has the number or name
	Refused     Outcome = "refused"     // v1 refused with Code; nothing moved
	Unavailable Outcome = "unavailable" // v1 could not take the request; nothing moved
	Uncertain   Outcome = "uncertain"   // the response was lost, or the outcome is unknown to v1 itself
	Repeated    Outcome = "repeated"    // an equal request was made within the deduplication window; v1 did nothing new
)

// Condition is a condition that did not hold.
type Condition string

// The conditions of Require, and of the amount's precision.
const (
	ConditionSettled    Condition = "settled"
	ConditionMethodType Condition = "method_type" // a card instead of a bank account, or the other way round
	ConditionLast4      Condition = "last4"
	ConditionRouting    Condition = "routing"
	ConditionCurrency   Condition = "currency"
	ConditionSource     Condition = "source"   // another customer or payment method
	ConditionShipping   Condition = "shipping" // the customer does not have the shipping address
	ConditionBrand      Condition = "brand"    // the stored card's brand is not accepted; Methods has the card
	ConditionAmount     Condition = "amount"   // not a whole number of minor units, or not positive
	ConditionDefault    Condition = "default"  // the customer has no default payment method
	ConditionMost       Condition = "most"     // the customer has the greatest number of payment methods or addresses
	ConditionRange      Condition = "range"    // beyond the greatest possible amount, so beyond the target's
)

// Result is the result of one command.
type Result struct {
	Outcome Outcome `json:"outcome"`
	// Unmet is set with the outcome of that name.
	Unmet Condition `json:"unmet,omitempty"`
	// Status, Code and Param are from v1's refusal. Status is 0 if v1 never responded.
	Status int    `json:"status,omitempty"`
	Code   string `json:"code,omitempty"`
	Param  string `json:"param,omitempty"`
	// Transaction is the latest known state of the payment: from the effect, else from a refusal, else
	// from an earlier read. Nil if none was seen.
	Transaction *v1.Transaction `json:"transaction,omitempty"`
	Capture     *v1.Capture     `json:"capture,omitempty"`
	Refund      *v1.Refund      `json:"refund,omitempty"`
	// Group has the present payments of the order, if the command was on one of several.
	Group []v1.Transaction `json:"group,omitempty"`
	// Customer is the new customer, or the existing one with Repeated. Methods are its payment methods
	// in the order of the command, or the one that was not charged.
	Customer *v1.Customer       `json:"customer,omitempty"`
	Methods  []v1.PaymentMethod `json:"methods,omitempty"`
	Token    *v1.Token          `json:"token,omitempty"`
	// Address is the new or changed shipping address, or the existing one with Repeated.
	Address *v1.ShippingAddress `json:"address,omitempty"`
	// CustomerIDs is set by ListCustomers.
	CustomerIDs []string `json:"customer_ids,omitempty"`
	// Stored is set by ListExpiring.
	Stored *StoredMethods `json:"stored,omitempty"`
	// List is set by ListTransactions, and Days by ListDays, GetDay and Get.
	List *List              `json:"list,omitempty"`
	Days []v1.SettlementDay `json:"days,omitempty"`
	// Position is the position of the payment method that v1 refused, counted from 1.
	Position int `json:"position,omitzero"`

	// Fresh reports that v1 did a Named command, or the issuer declined it, in this request and not in
	// an earlier one of that name.
	Fresh bool `json:"fresh,omitzero"`

	// Replayed reports that the result of a Named command is the stored one of an earlier equal
	// request.
	Replayed bool `json:"-"`

	// Origin is where v1's response comes from.
	Origin Origin `json:"-"`
	// Duplicated is the id of the object that a Repeated request duplicates, if only the id is known.
	Duplicated string `json:"-"`
}

// Origin is the request that a response of v1 belongs to. The zero Origin is the present request.
type Origin struct {
	// Replayed reports that the response is to an earlier request under the same key.
	Replayed bool
	// Stored reports that v1 had stored the response before the last attempt. An earlier attempt may
	// have caused it.
	Stored bool
	// Claimed reports that v1 may have claimed the key before the response, and freed it since.
	Claimed bool
	// Made is when v1 made the payment or refund that the response describes, zero if the response
	// does not contain the time.
	Made time.Time
}

// CodeNameSpent is not a v1 code. Requests under the name of a Named command were refused too
// often, or too long ago, to try another key. None had an effect, nor had this one.
const CodeNameSpent = "name_spent"

// CodeTooMany is not a v1 code: the list is longer than the proxy reads.
const CodeTooMany = "too_many"

// CodeFailed is not a v1 code: v1 returned a payment that has failed or was reversed.
const CodeFailed = "transaction_failed"

// KeyInUse returns the result of a request that found its key with a request that still runs.
func KeyInUse() Result {
	return Result{Outcome: Uncertain, Status: http.StatusConflict, Code: v1.CodeKeyInUse}
}

// KeyReused returns the result of a request whose name belongs to another request.
func KeyReused() *Result {
	return &Result{Outcome: Refused, Status: http.StatusUnprocessableEntity, Code: v1.CodeKeyReused}
}

// CodeNotBegun reports that the legacy request had too little time left, and that no part of the
// command was sent. It is not a code of v1.
const CodeNotBegun = "not_begun"

// GroupKey is the metadata entry of a payment that holds the number of the first payment of its
// order. The payment's reference is the same number, so that v1 can list it.
const GroupKey = "payment_group"

// The conditions on a group.
const (
	ConditionGroup      Condition = "group"       // no payment with that number was partially approved
	ConditionGroupEnded Condition = "group_ended" // the order was voided, or is paid
)

// Unencodable returns the result of a body that cannot be written as JSON. Nothing was sent.
func Unencodable() Result { return Result{Outcome: Refused, Code: "unencodable_request"} }
