package providerb

import (
	"net/http"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
)

// problem is the reason why a request makes no payment; the zero value stands for no problem. It is
// either a refusal of the request (400) or a decline (201). A decline may be decided without the
// issuer.
type problem struct {
	Reason   string   `json:"reason,omitzero"`
	Declined bool     `json:"declined,omitzero"`
	Fields   []string `json:"fields,omitzero"`
}

func (p problem) none() bool { return p.Reason == "" }

// missing and invalid return the refusals for the two faults of a field.
func missing(fields ...string) problem { return problem{Reason: reasonMissing, Fields: fields} }
func invalid(fields ...string) problem { return problem{Reason: reasonInvalid, Fields: fields} }

// unsupported refuses a feature that v1 does not have.
func unsupported(field string) problem {
	return problem{Reason: reasonNotSupported, Fields: []string{field}}
}

// decline returns a decline, by the issuer or certain before it is queried.
func decline(reason string) problem { return problem{Reason: reason, Declined: true} }

// The other reasons of refusals and declines.
const (
	reasonNotSupported         = "NOT_SUPPORTED"
	reasonDuplicate            = "DUPLICATE_REQUEST"
	reasonMerchantSetup        = "INVALID_MERCHANT_CONFIGURATION"
	reasonProcessorUnavailable = "PROCESSOR_UNAVAILABLE"
	reasonInvalidAmount        = "INVALID_AMOUNT"

	reasonAVSFailed         = "AVS_FAILED"
	reasonCVFailed          = "CV_FAILED"
	reasonContactProcessor  = "CONTACT_PROCESSOR"
	reasonExpiredCard       = "EXPIRED_CARD"
	reasonProcessorDeclined = "PROCESSOR_DECLINED"
	reasonInsufficientFund  = "INSUFFICIENT_FUND"
	reasonStolenLost        = "STOLEN_LOST_CARD"
	reasonUnauthorizedCard  = "UNAUTHORIZED_CARD"
	reasonCVNMismatch       = "CVN_NOT_MATCH"
	reasonInvalidCVN        = "INVALID_CVN"
	reasonExceedsLimit      = "EXCEEDS_CREDIT_LIMIT"
	reasonInvalidAccount    = "INVALID_ACCOUNT"
	reasonGeneralDecline    = "GENERAL_DECLINE"
)

// refusalTexts are the messages of refusals. Clients compare some of them literally.
var refusalTexts = map[string]string{
	reasonMissing:              "Declined - The request is missing one or more fields",
	reasonInvalid:              textInvalid,
	reasonNotSupported:         "Declined - The requested feature is not supported",
	reasonDuplicate:            "Declined - The transaction ID was used for another request",
	reasonMerchantSetup:        "Declined - There is a problem with your merchant configuration",
	reasonProcessorUnavailable: "Declined - The payment processor is unavailable",
	reasonInvalidAmount:        "Declined - The requested amount is not valid for this transaction",
	reasonExceedsAuth:          "Declined - The requested capture amount exceeds the originally authorized amount.",
	reasonReversed:             "Declined - The authorization has already been reversed.",
	reasonSettled:              "Declined - The authorization has already been captured.",
	reasonReversedSettled:      "Declined - The transaction has already been settled or reversed.",
	reasonNoAuth:               "Declined - There is no unused authorization for this capture.",
	reasonNotVoidable:          "Declined - The transaction cannot be voided.",
	reasonCaptureVoided:        "Declined - The capture has already been voided.",
	reasonNoCredit:             "Declined - The account is not allowed to give credits without a payment.",
	reasonProcessorDeclined:    "Declined - General decline by the processor.",
}

// declineTexts are the messages of declines, and of payments held for review.
var declineTexts = map[string]string{
	reasonAVSFailed:         "Decline - Address check did not match",
	reasonCVFailed:          "Decline - Card verification number did not match",
	reasonContactProcessor:  "Decline - The issuing bank has questions about the request.",
	reasonExpiredCard:       "Decline - Expired card.",
	reasonProcessorDeclined: "Decline - General decline of the card.",
	reasonInsufficientFund:  "Decline - Insufficient funds in the account.",
	reasonStolenLost:        "Decline - Stolen or lost card.",
	reasonUnauthorizedCard:  "Decline - Inactive card or card not authorized for card-not-present transactions.",
	reasonCVNMismatch:       "Decline - The card verification number did not match.",
	reasonInvalidCVN:        "Decline - Invalid card verification number.",
	reasonExceedsLimit:      "Decline - The card has reached the credit limit.",
	reasonInvalidAccount:    "Decline - Invalid account number",
	reasonGeneralDecline:    "Decline - General decline by the processor.",
}

// response returns the response of a refusal. It lists each field, as missing or invalid.
func (p problem) response(now time.Time) response {
	body := wire.Response{
		SubmitTimeUTC: stamp(now), Status: statusInvalid, Reason: p.Reason,
		Message: refusalTexts[p.Reason],
	}
	detail := reasonInvalid
	if p.Reason == reasonMissing {
		detail = reasonMissing
	}
	for _, field := range slices.Compact(p.Fields) {
		body.Details = append(body.Details, wire.Detail{Field: field, Reason: detail})
	}
	return response{status: http.StatusBadRequest, body: body, outcome: p.Reason}
}
