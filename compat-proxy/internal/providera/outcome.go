package providera

import (
	"net/http"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// declineReasons maps v1's decline codes.
var declineReasons = map[v1.DeclineCode]reason{
	v1.DeclineCodeGenericDecline:    reasonDeclined,
	v1.DeclineCodeInsufficientFunds: reasonDeclined,
	v1.DeclineCodeDoNotHonor:        reasonDeclined,
	v1.DeclineCodeLimitExceeded:     reasonDeclined,
	v1.DeclineCodeSuspectedFraud:    reasonDeclined,
	v1.DeclineCodeRetryNotAllowed:   reasonDeclined,
	v1.DeclineCodeCallIssuer:        reasonReferral,
	v1.DeclineCodePickupCard:        reasonPickUp,
	v1.DeclineCodeLostCard:          reasonPickUp,
	v1.DeclineCodeStolenCard:        reasonPickUp,
	v1.DeclineCodeIncorrectCvc:      reasonCardCodeMismatch,
	v1.DeclineCodeIncorrectAddress:  reasonAddressMismatch,
	v1.DeclineCodeExpiredCard:       reasonExpired,
	v1.DeclineCodeCardNotSupported:  reasonCardType,
	v1.DeclineCodeProcessingError:   reasonProcessing,
}

// filterDeclines are declines of a payment that the processor had authorized. The response has the
// processor's code and network id.
var filterDeclines = map[reason]bool{reasonAddressMismatch: true, reasonCardCodeMismatch: true}

// paramReasons maps the field that v1 refused, by the first row with a matching prefix.
var paramReasons = []struct {
	prefix string
	reason reason
}{
	{"amount", reasonAmount},
	{"currency", reasonCurrency},
	{"capture", reasonNotForChecks},             // of a stored bank account, which is only captured immediately
	{"prior_authorization", reasonNotForChecks}, // of a stored bank account
	{"card.number", reasonCardNumber},
	{"card.exp_", reasonExpiration},
	{"card.cvc", reasonCardCode},
	{"card_cvc", reasonCardCode},
	{"network_token.number", reasonCardNumber},
	{"network_token.exp_", reasonExpiration},
	{"network_token.cryptogram", reasonCryptogram},
	{"bank_account.routing_number", reasonRouting},
	{"bank_account", reasonAccount},
	{"three_d_secure.eci", reasonIndicator},
	{"three_d_secure", reasonAuthenticationValue},
	{"order.tax_amount", reasonTax},
	{"order.duty_amount", reasonDuty},
	{"order.shipping_amount", reasonFreight},
	{"", reasonField},
}

// notFoundReasons maps the request type to the reason if the number belongs to a refund.
var notFoundReasons = map[string]reason{
	typeVoid:    reasonVoidOfCredit,
	typeCapture: reasonNotFound,
	typeRefund:  reasonNotCreditable,
}

// judge converts a result to the client's problem; none if v1 executed the command.
func judge(transactionType string, r command.Result) problem {
	switch r.Outcome {
	case command.Done:
		return problem{}
	case command.Declined:
		return because(declineReason(r.Transaction))
	case command.Unmet:
		if r.Unmet == command.ConditionSettled && r.Transaction != nil && r.Transaction.BankAccount != nil {
			return because(reasonNotFound)
		}
		if r.Unmet == command.ConditionShipping {
			return noAddress()
		}
		if code, known := unmetCodes[r.Unmet]; known {
			return refuse(code)
		}
		return because(unmetReason(transactionType, r.Unmet))
	case command.NotFound:
		if r.Refund != nil {
			return because(notFoundReasons[transactionType])
		}
		return because(reasonNotFound)
	case command.Refused:
		return refused(r)
	case command.Unavailable:
		return unavailable(r)
	case command.Repeated:
		return because(reasonDuplicate)
	case command.Uncertain:
		if r.Status == http.StatusInternalServerError {
			return refuse(apiProcessing)
		}
		// Never similar to a decline: the money may have moved. See DIVERGENCES.md.
		return because(reasonProcessing)
	}
	return refuse(apiProcessing)
}

func declineReason(t *v1.Transaction) reason {
	if t != nil && t.DeclineCode != nil {
		if r, known := declineReasons[*t.DeclineCode]; known {
			return r
		}
	}
	return reasonDeclined
}

// unmetCodes are the conditions with an envelope code.
var unmetCodes = map[command.Condition]apiCode{
	command.ConditionSource:  apiOtherProfile,
	command.ConditionDefault: apiNoDefault, command.ConditionMost: apiTooManyPayments,
}

func unmetReason(transactionType string, c command.Condition) reason {
	switch c {
	case command.ConditionSettled, command.ConditionMethodType, command.ConditionLast4, command.ConditionRouting:
		return reasonNotCreditable
	case command.ConditionGroup:
		return reasonSplitTender
	case command.ConditionGroupEnded:
		return reasonSplitEnded
	case command.ConditionCurrency:
		return reasonCurrency
	case command.ConditionRange:
		if transactionType == typeRefund {
			return reasonOverCredit
		}
		return reasonOverCapture
	case command.ConditionBrand:
		return reasonCardNumber
	case command.ConditionAmount, command.ConditionSource, command.ConditionShipping, command.ConditionDefault,
		command.ConditionMost:
	}
	return reasonAmount
}

// refused converts v1's refusals.
func refused(r command.Result) problem {
	switch r.Code {
	case v1.CodeKeyReused, command.CodeNameSpent:
		return nameTaken()
	case v1.CodeMLERequired:
		return encryptionRequired
	case v1.CodeNotCapturable:
		return because(notCapturable(r.Transaction))
	case v1.CodeNotVoidable:
		return because(notVoidable(r.Transaction))
	case v1.CodeNotRefundable:
		return because(notRefundable(r.Transaction))
	case v1.CodeExceedsCapturable:
		return because(reasonOverCapture)
	case v1.CodeExceedsRefundable:
		return because(reasonOverCredit)
	case v1.CodeExpiredCard:
		return because(reasonExpired)
	case v1.CodeUnknownCustomer, v1.CodeUnknownMethod:
		return noProfile()
	case v1.CodeMissingField:
		if r.Param == "payment_method" {
			return refuse(apiNoDefault)
		}
	case v1.CodeOperationInProgress, command.CodeFailed, v1.CodeNotProcessed:
		return because(reasonProcessing)
	}
	switch r.Status {
	case http.StatusUnauthorized:
		return refuse(apiBadLogin)
	case http.StatusForbidden:
		switch r.Code {
		case v1.CodeUnlinkedRefunds:
			return because(reasonBlank)
		case v1.CodeMerchantDisabled:
			return refuse(apiInactive)
		}
		return refuse(apiAccessDenied)
	case http.StatusBadRequest:
		if r.Param == "payment_method" { // stored, and another customer's
			return noProfile()
		}
		return because(paramReason(r.Param))
	case http.StatusCreated:
		return because(reasonProcessing) // made, and failed at the acquirer
	}
	return refuse(apiProcessing)
}

func paramReason(param string) reason {
	for _, row := range paramReasons {
		if strings.HasPrefix(param, row.prefix) {
			return row.reason
		}
	}
	return reasonField
}

func notCapturable(t *v1.Transaction) reason {
	switch status(t) {
	case v1.TransactionStatusVoided:
		return reasonAlreadyVoided
	case v1.TransactionStatusCaptured, v1.TransactionStatusPartiallyCaptured:
		return reasonAlreadyCaptured
	case v1.TransactionStatusDeclined, v1.TransactionStatusFailed:
		return reasonNotApproved
	case v1.TransactionStatusRequiresConfirmation, v1.TransactionStatusCanceled:
		return reasonNotApproved
	case v1.TransactionStatusExpired:
		return reasonNotFound
	case v1.TransactionStatusAuthorized:
		return reasonOverCapture // of a verification, which reserved nothing
	case v1.TransactionStatusProcessing, v1.TransactionStatusUnknown:
	}
	return reasonProcessing
}

func notVoidable(t *v1.Transaction) reason {
	switch status(t) {
	case v1.TransactionStatusVoided:
		return reasonAlreadyVoided
	case v1.TransactionStatusProcessing, v1.TransactionStatusUnknown:
		return reasonProcessing
	case v1.TransactionStatusCaptured, v1.TransactionStatusPartiallyCaptured, v1.TransactionStatusAuthorized,
		v1.TransactionStatusDeclined, v1.TransactionStatusFailed, v1.TransactionStatusExpired,
		v1.TransactionStatusRequiresConfirmation, v1.TransactionStatusCanceled:
	}
	return reasonNotFound
}

// notRefundable distinguishes a fully refunded payment from one that cannot be refunded.
func notRefundable(t *v1.Transaction) reason {
	if t != nil && t.Settlement == v1.SettlementSettled && t.AmountRefunded > 0 {
		return reasonOverCredit
	}
	return reasonNotCreditable
}

func status(t *v1.Transaction) v1.TransactionStatus {
	if t == nil {
		return v1.TransactionStatusUnknown
	}
	return t.Status
}

// unavailable converts the result if v1 could not take the request.
func unavailable(r command.Result) problem {
	switch {
	case r.Code == v1.CodeAcquirerNotConfigured:
		return because(reasonMerchantSetup)
	case r.Code == v1.CodeAcquirerUnavailable:
		return because(reasonProcessing)
	case r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable:
		return refuse(apiBusy)
	}
	return refuse(apiProcessing)
}
