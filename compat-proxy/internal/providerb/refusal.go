package providerb

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The reasons for refusing follow-up operations. Some clients treat "already" ones as a success, so
// each must be exact.
const (
	reasonExceedsAuth     = "EXCEEDS_AUTH_AMOUNT"
	reasonReversed        = "AUTH_ALREADY_REVERSED"
	reasonSettled         = "TRANSACTION_ALREADY_SETTLED"
	reasonReversedSettled = "TRANSACTION_ALREADY_REVERSED_OR_SETTLED"
	reasonNoAuth          = "MISSING_AUTH"
	reasonNotVoidable     = "NOT_VOIDABLE"
	reasonCaptureVoided   = "CAPTURE_ALREADY_VOIDED"
	reasonNoCredit        = "ACCOUNT_NOT_ALLOWED_CREDIT"
)

// The fields in refusals.
const (
	fieldReversal      = "reversalInformation.amountDetails.totalAmount"
	fieldTransactionID = "clientReferenceInformation.transactionId"
)

// followUpProblem returns the response to a failed follow-up command, if it is the same for all
// operations. It returns false if the response depends on the state of the payment.
func (c call) followUpProblem(r command.Result, amountField string) (response, bool) {
	switch r.Outcome {
	case command.Uncertain:
		return outcomeUnknown(c.now), true
	case command.Unavailable:
		return unavailable(r, c.now), true
	case command.Unmet:
		return unmet(r.Unmet, amountField).response(c.now), true
	case command.Refused:
		return c.refusedByCode(r)
	case command.NotFound, command.Declined, command.Done, command.Repeated:
	}
	return response{}, false
}

func unmet(condition command.Condition, amountField string) problem {
	if condition == command.ConditionCurrency {
		return invalid(strings.Replace(amountField, "totalAmount", "currency", 1))
	}
	return invalid(amountField)
}

// refusedByCode responds to v1's refusals that do not depend on the state of the payment.
func (c call) refusedByCode(r command.Result) (response, bool) {
	switch {
	case nameTaken(r):
		return c.reused(r), true
	case r.Code == v1.CodeOperationInProgress:
		return serverError(c.now, reasonSystem, "Error - Another operation on the transaction is in progress."), true
	case r.Code == v1.CodeMerchantDisabled, r.Code == v1.CodeAcquirerNotConfigured:
		return problem{Reason: reasonMerchantSetup}.response(c.now), true
	case r.Code == v1.CodeMLERequired:
		return encryptionRequired(c.now), true
	case r.Code == v1.CodeUnlinkedRefunds:
		return problem{Reason: reasonNoCredit}.response(c.now), true
	case r.Code == v1.CodeAddressNotAllowed:
		return denied(textAddress), true
	case r.Status == http.StatusForbidden:
		return denied("The key lacks a scope that v1 requires."), true // the operation's scope was checked before
	case r.Status == http.StatusUnauthorized:
		return unauthenticated(), true // rolled or revoked since the check
	}
	return response{}, false
}

// references checks the client's references of the request.
func references(req *wire.Request) problem { return (&decoder{req: req}).references() }

// followUpAmount reads the amount of a follow-up request. Its default currency is the payment's. If
// the request names a currency, decimals that the currency does not have are cut off.
func followUpAmount(a wire.AmountDetails, field string) (amount, currency string, f problem) {
	if f := noServiceFee(a); !f.none() {
		return "", "", f
	}
	const longest = 19
	text := string(a.TotalAmount)
	whole, decimals, _ := strings.Cut(text, ".")
	switch {
	case text == "":
		return "", "", missing(field)
	case len(text) > longest || strings.Trim(whole+decimals, "0123456789") != "" || whole+decimals == "":
		return "", "", invalid(field)
	}
	currency = strings.ToLower(string(a.Currency))
	if currency != "" {
		c, known := money.Lookup(currency)
		if !known {
			return "", "", invalid(strings.Replace(field, "totalAmount", "currency", 1))
		}
		decimals = decimals[:min(len(decimals), c.Exponent)]
	}
	amount = cmp.Or(whole, "0")
	if decimals != "" {
		amount += "." + decimals
	}
	return amount, currency, problem{}
}

// currencyText returns the currency in the request's spelling, else the payment's in the dialect's.
func currencyText(requested wire.Text, currency string) string {
	return cmp.Or(string(requested), strings.ToUpper(currency))
}
