package providerb

import (
	"net/http"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// declineReasons maps v1's decline codes.
var declineReasons = map[v1.DeclineCode]string{
	v1.DeclineCodeGenericDecline:    reasonProcessorDeclined,
	v1.DeclineCodeDoNotHonor:        reasonProcessorDeclined,
	v1.DeclineCodeSuspectedFraud:    reasonProcessorDeclined,
	v1.DeclineCodeRetryNotAllowed:   reasonProcessorDeclined,
	v1.DeclineCodeInsufficientFunds: reasonInsufficientFund,
	v1.DeclineCodeLimitExceeded:     reasonExceedsLimit,
	v1.DeclineCodeCallIssuer:        reasonContactProcessor,
	v1.DeclineCodePickupCard:        reasonStolenLost,
	v1.DeclineCodeLostCard:          reasonStolenLost,
	v1.DeclineCodeStolenCard:        reasonStolenLost,
	v1.DeclineCodeIncorrectCvc:      reasonCVNMismatch,
	v1.DeclineCodeIncorrectAddress:  reasonAVSFailed,
	v1.DeclineCodeExpiredCard:       reasonExpiredCard,
	v1.DeclineCodeCardNotSupported:  reasonUnauthorizedCard,
	v1.DeclineCodeProcessingError:   reasonGeneralDecline,
}

// responseInvalidNumber is the acquirer's response code for a number without an account.
const responseInvalidNumber = "14"

// declineReason returns the reason of a declined payment.
func declineReason(t *v1.Transaction) string {
	switch {
	case t == nil || t.BankAccount != nil:
		return reasonGeneralDecline
	case t.Authorization != nil && t.Authorization.ResponseCode == responseInvalidNumber:
		return reasonInvalidAccount
	case t.DeclineCode == nil:
		return reasonProcessorDeclined
	}
	if r, known := declineReasons[*t.DeclineCode]; known {
		return r
	}
	return reasonProcessorDeclined
}

// paramFields maps the field that v1 refused to the dialect's, by the first row with a matching
// prefix.
var paramFields = []struct{ prefix, field string }{
	{"amount", fieldTotal},
	{"currency", fieldCurrency},
	{"card.number", "paymentInformation.card.number"},
	{"card.exp_month", "paymentInformation.card.expirationMonth"},
	{"card.exp_year", "paymentInformation.card.expirationYear"},
	{"card.cvc", fieldCode},
	{"card_cvc", fieldCode},
	{"network_token.number", "paymentInformation.tokenizedCard.number"},
	{"network_token.exp_month", "paymentInformation.tokenizedCard.expirationMonth"},
	{"network_token.exp_year", "paymentInformation.tokenizedCard.expirationYear"},
	{"network_token", "paymentInformation.tokenizedCard.cryptogram"},
	{"bank_account.routing_number", "paymentInformation.bank.routingNumber"},
	{"bank_account", "paymentInformation.bank.account.number"},
	{"customer", fieldCustomer},
	{"payment_method", "paymentInformation.paymentInstrument.id"},
	{"three_d_secure.eci", "consumerAuthenticationInformation.eciRaw"},
	{"three_d_secure", "consumerAuthenticationInformation.cavv"},
	{"initiator", "processingInformation.authorizationOptions.initiator"},
	{"prior_authorization", "processingInformation.authorizationOptions.verbalAuthCode"},
	{"order.tax_amount", "orderInformation.amountDetails.taxAmount"},
	{"order.duty_amount", "orderInformation.amountDetails.dutyAmount"},
	{"order.shipping_amount", "orderInformation.amountDetails.freightAmount"},
	{"order.discount_amount", "orderInformation.amountDetails.discountAmount"},
	{"order", "orderInformation.lineItems"},
	{"billing", "orderInformation.billTo"},
	{"shipping", "orderInformation.shipTo"},
	{"reference", "clientReferenceInformation.code"},
	{"metadata", "merchantDefinedInformation"},
}

// fieldOf returns the dialect's name of the field that v1 refused; none if it has no name.
func fieldOf(param string) []string {
	for _, row := range paramFields {
		if strings.HasPrefix(param, row.prefix) {
			return []string{row.field}
		}
	}
	return nil
}

// refusedPayment converts v1's refusal of a new payment to a problem. If that is none, the response
// counts.
func refusedPayment(r command.Result, now time.Time) (problem, response) {
	if r.Unmet == command.ConditionShipping {
		return invalid(fieldAddress), response{}
	}
	switch r.Code {
	case v1.CodeMLERequired:
		return problem{}, encryptionRequired(now)
	case v1.CodeKeyReused:
		return problem{Reason: reasonDuplicate}, response{}
	case v1.CodeExpiredCard:
		return decline(reasonExpiredCard), response{}
	case v1.CodeUnknownCustomer:
		return invalid(fieldCustomer), response{}
	case v1.CodeUnknownMethod:
		return invalid("paymentInformation.paymentInstrument.id"), response{}
	case v1.CodeMissingField:
		if r.Param == "payment_method" { // of a customer without a default
			return missing("paymentInformation.paymentInstrument.id"), response{}
		}
	case command.CodeFailed, v1.CodeNotProcessed:
		return problem{Reason: reasonProcessorUnavailable}, response{}
	}
	switch r.Status {
	case http.StatusUnauthorized:
		return problem{}, unauthenticated()
	case http.StatusForbidden:
		if r.Code == v1.CodeMerchantDisabled {
			return problem{Reason: reasonMerchantSetup}, response{}
		}
		if r.Code == v1.CodeAddressNotAllowed {
			return problem{}, denied(textAddress)
		}
		return problem{}, forbidden(string(v1.ScopePaymentsAuthorize))
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return invalid(fieldOf(r.Param)...), response{}
	}
	return problem{}, serverError(now, reasonSystem, textSystem)
}

const (
	textAddress = "The key cannot be used from the address of this request."
	textSystem  = "Error - General system failure."
	textTimeout = "Error - Upstream timeout"
)

// outcomeUnknown returns the response if the outcome of a payment is unknown. Clients then query
// it, or reverse it by their own name for it.
func outcomeUnknown(now time.Time) response { return serverError(now, reasonTimeout, textTimeout) }

// unavailable returns the response if v1 could not take the request. Nothing moved.
func unavailable(r command.Result, now time.Time) response {
	switch r.Code {
	case v1.CodeAcquirerNotConfigured:
		return problem{Reason: reasonMerchantSetup}.response(now)
	case v1.CodeAcquirerUnavailable:
		return problem{Reason: reasonProcessorUnavailable}.response(now)
	case command.CodeNotBegun:
		return tooBusy(now)
	}
	return serverError(now, reasonSystem, textSystem)
}
