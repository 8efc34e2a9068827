package providera

import (
	"github.com/causeway-pay/causeway/core/internal/acquirer"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// addressChecks maps an AVS code to the results for the address line and the postal code. Any other
// code is not processed.
var addressChecks = map[string][2]v1.CheckResult{
	"A": {v1.CheckResultMatch, v1.CheckResultNoMatch},
	"B": {v1.CheckResultNotProvided, v1.CheckResultNotProvided},
	"E": {v1.CheckResultUnavailable, v1.CheckResultUnavailable},
	"G": {v1.CheckResultUnavailable, v1.CheckResultUnavailable},
	"N": {v1.CheckResultNoMatch, v1.CheckResultNoMatch},
	"R": {v1.CheckResultUnavailable, v1.CheckResultUnavailable},
	"S": {v1.CheckResultUnavailable, v1.CheckResultUnavailable},
	"U": {v1.CheckResultUnavailable, v1.CheckResultUnavailable},
	"W": {v1.CheckResultNoMatch, v1.CheckResultMatch},
	"X": {v1.CheckResultMatch, v1.CheckResultMatch},
	"Y": {v1.CheckResultMatch, v1.CheckResultMatch},
	"Z": {v1.CheckResultNoMatch, v1.CheckResultMatch},
}

// codeChecks maps the result code of the card code to its result. Any other code is not processed.
var codeChecks = map[string]v1.CheckResult{
	"M": v1.CheckResultMatch, "N": v1.CheckResultNoMatch, "S": v1.CheckResultNotProvided, "U": v1.CheckResultUnavailable,
}

// given are the data of a request that an issuer can check.
type given struct{ cvc, line, postal bool }

func givenBy(r acquirer.Authorize) given {
	return given{!r.Card.CVC.IsZero(), r.Billing.AddressLine != "", r.Billing.PostalCode != ""}
}

// checksOf returns the results for the result codes. Data that the request did not have are not
// provided.
func checksOf(avs, cvc, cavv text, g given) acquirer.Checks {
	codes := acquirer.ResultCodes{AVS: resultCode(avs), CVC: resultCode(cvc), CAVV: resultCode(cavv)}
	address, known := addressChecks[codes.AVS]
	if !known {
		address = [2]v1.CheckResult{v1.CheckResultNotProcessed, v1.CheckResultNotProcessed}
	}
	code, known := codeChecks[codes.CVC]
	if !known {
		code = v1.CheckResultNotProcessed
	}
	return acquirer.Checks{
		CVC: provided(g.cvc, code), AddressLine: provided(g.line, address[0]), PostalCode: provided(g.postal, address[1]),
		Codes: codes,
	}
}

func provided(given bool, result v1.CheckResult) string {
	if !given {
		result = v1.CheckResultNotProvided
	}
	return string(result)
}

// resultCode returns the one character of a result code, "" for any other text.
func resultCode(t text) string {
	if len(t.value) != 1 || !alphanumeric(t.value) {
		return ""
	}
	return t.value
}
