package providerb

import v1 "github.com/causeway-pay/causeway/shared/v1"

// class is the meaning of a status or reason.
type class string

const (
	approved class = "approved"
	declined class = "declined"
	// held: the issuer has approved, and the provider's rules have not. The authorization must be
	// released.
	held     class = "held"
	noEffect class = "no-effect" // refused because of the account; another account may accept it
	done     class = "done"      // of a reversal or void: an earlier one has had the effect
	reasoned class = "reasoned"  // the reason decides
	unknown  class = "unknown"
)

// operation is the kind of a request. The meaning of some codes depends on it.
type operation string

const (
	authorizing operation = "authorize"
	selling     operation = "sale"
	debiting    operation = "debit" // of a bank account
	capturing   operation = "capture"
	reversing   operation = "reversal"
	voiding     operation = "void"
	refunding   operation = "refund"
	crediting   operation = "credit"
)

// statuses maps a status of HTTP 201 to its classes by operation. An operation that is not
// here has the class under "". Any status that is not here is unknown.
var statuses = map[string]map[operation]class{
	"AUTHORIZED":         {authorizing: approved, selling: approved, "": unknown},
	"PARTIAL_AUTHORIZED": {authorizing: approved, selling: approved, "": unknown},
	// A held sale is not captured. A held authorization can be captured.
	"AUTHORIZED_PENDING_REVIEW": {authorizing: approved, selling: held, "": unknown},
	"AUTHORIZED_RISK_DECLINED":  {authorizing: held, selling: held, "": unknown},
	"PENDING": {
		debiting: approved, capturing: approved, refunding: approved, crediting: approved, "": unknown,
	},
	"TRANSMITTED": {
		debiting: approved, capturing: approved, refunding: approved, crediting: approved, "": unknown,
	},
	"REVERSED":               {reversing: approved, "": unknown},
	"VOIDED":                 {voiding: approved, "": unknown},
	"DECLINED":               {"": reasoned},
	"201":                    {"": reasoned}, // of some declines
	"PENDING_AUTHENTICATION": {authorizing: declined, selling: declined, "": unknown},
	"PENDING_REVIEW":         {"": unknown}, // a person may still accept it
	"ACCEPTED":               {"": unknown},
	"INVALID_REQUEST":        {"": unknown},
	"SERVER_ERROR":           {"": unknown},
}

func statusClass(status string, o operation) class {
	byOperation, known := statuses[status]
	if !known {
		return unknown
	}
	if c, ok := byOperation[o]; ok {
		return c
	}
	return byOperation[""]
}

// reason is the meaning of a reason: its class, v1's decline code, and the field 39 to report if
// the processor gave none.
type reason struct {
	class    class
	decline  v1.DeclineCode
	response string
}

// retryable reports whether a decline came from systems that were away, not from a decision about
// the card.
func (r reason) retryable() bool {
	return r.class == declined && (r.response == "91" || r.response == "96")
}

// declines are the reasons of a processed request without an approval: HTTP 201 with the status
// DECLINED.
var declines = map[string]reason{
	"AVS_FAILED":                       {declined, v1.DeclineCodeIncorrectAddress, "05"},
	"CONTACT_PROCESSOR":                {declined, v1.DeclineCodeCallIssuer, "01"},
	"CV_FAILED":                        {declined, v1.DeclineCodeIncorrectCvc, "N7"},
	"EXPIRED_CARD":                     {declined, v1.DeclineCodeExpiredCard, "54"},
	"PROCESSOR_DECLINED":               {declined, v1.DeclineCodeGenericDecline, "05"},
	"INSUFFICIENT_FUND":                {declined, v1.DeclineCodeInsufficientFunds, "51"},
	"STOLEN_LOST_CARD":                 {declined, v1.DeclineCodePickupCard, "04"},
	"ISSUER_UNAVAILABLE":               {declined, v1.DeclineCodeProcessingError, "91"},
	"UNAUTHORIZED_CARD":                {declined, v1.DeclineCodeCardNotSupported, "57"},
	"CVN_NOT_MATCH":                    {declined, v1.DeclineCodeIncorrectCvc, "N7"},
	"EXCEEDS_CREDIT_LIMIT":             {declined, v1.DeclineCodeLimitExceeded, "61"},
	"INVALID_CVN":                      {declined, v1.DeclineCodeIncorrectCvc, "N7"},
	"BLOCKED_BY_CARDHOLDER":            {declined, v1.DeclineCodeDoNotHonor, "05"},
	"DECLINED_CHECK":                   {declined, v1.DeclineCodeGenericDecline, "05"},
	"BLACKLISTED_CUSTOMER":             {declined, v1.DeclineCodeSuspectedFraud, "59"},
	"SUSPENDED_ACCOUNT":                {declined, v1.DeclineCodeDoNotHonor, "05"},
	"PAYMENT_REFUSED":                  {declined, v1.DeclineCodeDoNotHonor, "05"},
	"INVALID_ACCOUNT":                  {declined, v1.DeclineCodeCardNotSupported, "14"},
	"GENERAL_DECLINE":                  {declined, v1.DeclineCodeGenericDecline, "05"},
	"INVALID_MERCHANT_CONFIGURATION":   {declined, v1.DeclineCodeProcessingError, "03"},
	"DECISION_PROFILE_REJECT":          {declined, v1.DeclineCodeSuspectedFraud, "59"},
	"DECISION_PROFILE_REVIEW":          {declined, v1.DeclineCodeSuspectedFraud, "59"},
	"SCORE_EXCEEDS_THRESHOLD":          {declined, v1.DeclineCodeSuspectedFraud, "59"},
	"PENDING_AUTHENTICATION":           {declined, v1.DeclineCodeDoNotHonor, "05"},
	"ACH_VERIFICATION_FAILED":          {declined, v1.DeclineCodeGenericDecline, "05"},
	"CONSUMER_AUTHENTICATION_REQUIRED": {declined, v1.DeclineCodeDoNotHonor, "05"},
	"CONSUMER_AUTHENTICATION_FAILED":   {declined, v1.DeclineCodeDoNotHonor, "05"},
	"CUSTOMER_AUTHENTICATION_REQUIRED": {declined, v1.DeclineCodeDoNotHonor, "05"},
	"ALLOWABLE_PIN_RETRIES_EXCEEDED":   {declined, v1.DeclineCodeLimitExceeded, "75"},
	"PROCESSOR_ERROR":                  {declined, v1.DeclineCodeProcessingError, "96"},
	"CUSTOMER_WATCHLIST_MATCH":         {declined, v1.DeclineCodeSuspectedFraud, "59"},
	"ADDRESS_COUNTRY_WATCHLIST_MATCH":  {declined, v1.DeclineCodeSuspectedFraud, "59"},
	"EMAIL_COUNTRY_WATCHLIST_MATCH":    {declined, v1.DeclineCodeSuspectedFraud, "59"},
	"IP_COUNTRY_WATCHLIST_MATCH":       {declined, v1.DeclineCodeSuspectedFraud, "59"},
	"DAGGREJECTED":                     {declined, v1.DeclineCodeSuspectedFraud, "59"},
	"DAGGDENIED":                       {declined, v1.DeclineCodeSuspectedFraud, "59"},
	"DSYSREJECTED":                     {declined, v1.DeclineCodeSuspectedFraud, "59"},
}

// refusals are the reasons of a request that was not processed: HTTP 400 with the status
// INVALID_REQUEST. A reason of which an earlier copy of the same request can be the cause is
// unknown.
var refusals = map[string]reason{
	"MISSING_FIELD":                           {declined, v1.DeclineCodeProcessingError, "30"},
	"INVALID_DATA":                            {declined, v1.DeclineCodeProcessingError, "30"},
	"DUPLICATE_REQUEST":                       {class: unknown},
	"INVALID_CARD":                            {declined, v1.DeclineCodeCardNotSupported, "14"},
	"CARD_TYPE_NOT_ACCEPTED":                  {declined, v1.DeclineCodeCardNotSupported, "57"},
	"INVALID_MERCHANT_CONFIGURATION":          {class: noEffect},
	"PROCESSOR_UNAVAILABLE":                   {class: unknown}, // the processor may have received it
	"INVALID_AMOUNT":                          {declined, v1.DeclineCodeProcessingError, "13"},
	"INVALID_CARD_TYPE":                       {declined, v1.DeclineCodeCardNotSupported, "57"},
	"INVALID_PAYMENT_ID":                      {declined, v1.DeclineCodeProcessingError, "12"},
	"NOT_SUPPORTED":                           {declined, v1.DeclineCodeProcessingError, "12"},
	"DEBIT_CARD_USEAGE_EXCEEDD_LIMIT":         {declined, v1.DeclineCodeLimitExceeded, "65"}, //nolint:misspell // theirs
	"EXCEEDS_AUTH_AMOUNT":                     {declined, v1.DeclineCodeProcessingError, "13"},
	"AUTH_ALREADY_REVERSED":                   {declined, v1.DeclineCodeProcessingError, "12"},
	"TRANSACTION_ALREADY_SETTLED":             {class: unknown},
	"MISSING_AUTH":                            {declined, v1.DeclineCodeProcessingError, "12"},
	"TRANSACTION_ALREADY_REVERSED_OR_SETTLED": {class: unknown},
	"NOT_VOIDABLE":                            {declined, v1.DeclineCodeProcessingError, "12"},
	"CAPTURE_ALREADY_VOIDED":                  {declined, v1.DeclineCodeProcessingError, "12"},
	"ACCOUNT_NOT_ALLOWED_CREDIT":              {declined, v1.DeclineCodeProcessingError, "57"},
	"PROCESSOR_DECLINED":                      {declined, v1.DeclineCodeGenericDecline, "05"}, // of a refund
}

// ended are the refusals of a reversal or void that a processed one causes.
var ended = map[operation]map[string]reason{
	reversing: {
		"AUTH_ALREADY_REVERSED":       {class: done},
		"TRANSACTION_ALREADY_SETTLED": {declined, v1.DeclineCodeProcessingError, "12"},
	},
	voiding: {"CAPTURE_ALREADY_VOIDED": {class: done}},
}

func refusalOf(name string, o operation) reason {
	if r, ok := ended[o][name]; ok {
		return r
	}
	if r, ok := refusals[name]; ok {
		return r
	}
	return reason{class: unknown}
}

// lostCards are v1's decline codes of the reason STOLEN_LOST_CARD, by field 39.
var lostCards = map[string]v1.DeclineCode{
	"41": v1.DeclineCodeLostCard, "43": v1.DeclineCodeStolenCard,
}
