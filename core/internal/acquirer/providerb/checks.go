package providerb

import (
	"github.com/causeway-pay/causeway/core/internal/acquirer"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	match        = string(v1.CheckResultMatch)
	noMatch      = string(v1.CheckResultNoMatch)
	unavailable  = string(v1.CheckResultUnavailable)
	notProvided  = string(v1.CheckResultNotProvided)
	notProcessed = string(v1.CheckResultNotProcessed)
)

// addressChecks are the results for the address line and the postal code, by AVS code.
var addressChecks = map[string][2]string{
	"A": {match, noMatch}, "B": {match, notProcessed}, "C": {noMatch, noMatch}, "D": {match, match},
	"E": {unavailable, unavailable}, "F": {notProcessed, match}, "G": {unavailable, unavailable}, "H": {match, match},
	"I": {notProcessed, notProcessed}, "K": {noMatch, noMatch}, "L": {noMatch, match}, "M": {match, match},
	"N": {noMatch, noMatch}, "O": {match, noMatch}, "P": {notProcessed, match}, "R": {unavailable, unavailable},
	"S": {notProcessed, notProcessed}, "T": {match, noMatch}, "U": {unavailable, unavailable}, "V": {match, match},
	"W": {noMatch, match}, "X": {match, match}, "Y": {match, match}, "Z": {noMatch, match},
	"1": {notProcessed, notProcessed}, "2": {unavailable, unavailable}, "3": {match, match}, "4": {noMatch, noMatch},
}

// codeChecks are the results for the security code, by its result code.
var codeChecks = map[string]string{
	"M": match, "N": noMatch, "D": noMatch, "I": noMatch, "P": notProcessed, "S": notProcessed, "U": unavailable,
	"X": unavailable, "1": notProcessed, "2": unavailable, "3": unavailable,
}

// checksOf returns the results of the checks of an authorization. A part that was not given has no
// result.
func checksOf(r acquirer.Authorize, p processor) acquirer.Checks {
	out := acquirer.Checks{CVC: notProvided, AddressLine: notProvided, PostalCode: notProvided}
	address, known := addressChecks[p.AVS.Code]
	if !known {
		address = [2]string{notProcessed, notProcessed}
	}
	if r.Billing.AddressLine != "" {
		out.AddressLine = address[0]
	}
	if r.Billing.PostalCode != "" {
		out.PostalCode = address[1]
	}
	if !r.Card.CVC.IsZero() {
		out.CVC = notProcessed
		if result, known := codeChecks[p.CardVerification.ResultCode]; known {
			out.CVC = result
		}
	}
	out.Codes = acquirer.ResultCodes{
		AVS: oneCharacter(p.AVS.Code), CVC: oneCharacter(p.CardVerification.ResultCode),
		CAVV: oneCharacter(p.ConsumerAuthentication.Code),
	}
	return out
}

// oneCharacter returns a code of one printable character, "" for any other.
func oneCharacter(code string) string {
	if len(code) != 1 || !printable(code) {
		return ""
	}
	return code
}

func printable(text string) bool {
	for _, c := range []byte(text) {
		if c < '!' || c > '~' {
			return false
		}
	}
	return true
}
