package providera

import (
	"regexp"
	"strings"

	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// authCodeForm is the form of an issuer's authorization code in capitals.
var authCodeForm = regexp.MustCompile(`^[0-9A-Z]{1,6}$`)

// consent adds the consent to body: the payer's, or for a captureOnlyTransaction the issuer's.
func (d *decoder) consent(body *v1.TransactionCreate) problem {
	if d.txn.Get("transactionType") == typeForced {
		return d.approval(body)
	}
	if isTrue(d.setting("allowPartialAuth")) && body.BankAccount == nil {
		available := v1.PartialAuthorizationIfAvailable
		body.PartialAuthorization = &available
	}
	d.initiator(body)
	return d.authentication(body)
}

// approval adds the issuer's prior authorization code to body. Such a payment needs no
// authentication.
func (d *decoder) approval(body *v1.TransactionCreate) problem {
	code := strings.ToUpper(d.txn.Get("authCode"))
	switch {
	case body.BankAccount != nil:
		return because(reasonNotForChecks)
	case body.Card == nil && body.Customer == nil:
		return because(reasonNotAccepted)
	case code == "":
		return because(reasonNoAuthCode)
	case !authCodeForm.MatchString(code):
		return because(reasonAuthCode)
	}
	body.PriorAuthorization = &v1.PriorAuthorization{Code: code}
	d.initiator(body)
	return problem{}
}

// authentication adds the result of a cardholder authentication to body.
func (d *decoder) authentication(body *v1.TransactionCreate) problem {
	given := d.txn.Child("cardholderAuthentication")
	if !given.Has("authenticationIndicator") && !given.Has("cardholderAuthenticationValue") {
		return problem{}
	}
	eci := indicator(given.Get("authenticationIndicator"))
	if eci == nil {
		return because(reasonIndicator)
	}
	in := &v1.ThreeDSecureInput{Eci: *eci}
	if text := given.Get("cardholderAuthenticationValue"); text != "" {
		if !base64Form.MatchString(text) {
			return because(reasonAuthenticationValue)
		}
		value := secret.New(text)
		in.Cavv = &value
	}
	body.ThreeDSecure = in
	return problem{}
}

// initiatorReasons maps the dialect's reasons for a merchant-initiated payment to v1's.
var initiatorReasons = map[string]v1.InitiatorReason{
	"resubmission":    v1.InitiatorReasonResubmission,
	"delayedCharge":   v1.InitiatorReasonDelayedCharge,
	"reauthorization": v1.InitiatorReasonReauthorization,
	"noShow":          v1.InitiatorReasonNoShow,
}

// networkIDForm is the form of an earlier payment's network id that v1 accepts.
var networkIDForm = regexp.MustCompile(`^[!-~]{1,64}$`)

// initiator adds the initiator of the payment to body, and the payer's agreement to such payments.
func (d *decoder) initiator(body *v1.TransactionCreate) {
	options, again := d.txn.Child("processingOptions"), d.txn.Child("subsequentAuthInformation")
	agreement := v1.InitiatorReasonUnscheduled
	recurring := isTrue(d.setting("recurringBilling"))
	if recurring || isTrue(options.Get("isFirstRecurringPayment")) {
		agreement = v1.InitiatorReasonRecurring
	}
	in := &v1.Initiator{Type: v1.InitiatorTypeCustomer, Reason: &agreement}
	reason, named := initiatorReasons[again.Get("reason")]
	switch {
	case named:
		in.Type, in.Reason = v1.InitiatorTypeMerchant, &reason
	case isTrue(options.Get("isSubsequentAuth")), again.Has("originalNetworkTransId"):
		in.Type = v1.InitiatorTypeMerchant
	case isTrue(options.Get("isFirstRecurringPayment")), isTrue(options.Get("isFirstSubsequentAuth")):
	case isTrue(options.Get("isStoredCredentials")):
		in.Reason = nil
	default:
		return
	}
	if id := again.Get("originalNetworkTransId"); networkIDForm.MatchString(id) {
		in.PreviousNetworkTransactionID = &id
	}
	body.Initiator = in
}
