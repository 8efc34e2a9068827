package providera

import (
	"cmp"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The result codes of checks that do not apply. In test mode, a 3-D Secure value always passes.
const (
	avsNotApplicable = "P"
	avsNoAddress     = "B"
	avsMatch         = "Y"
	cavvTestPassed   = "2"
	cvvMissing       = "S" // declined because there was no code to check
)

// avsCodes are the AVS codes by the results for the street and the postal code. If one of them
// was not provided, the other decides. For pairs that are not here the code is U, unavailable.
var avsCodes = map[[2]v1.CheckResult]string{
	{v1.CheckResultMatch, v1.CheckResultMatch}:             avsMatch,
	{v1.CheckResultMatch, v1.CheckResultNoMatch}:           "A",
	{v1.CheckResultNoMatch, v1.CheckResultMatch}:           "Z",
	{v1.CheckResultNoMatch, v1.CheckResultNoMatch}:         "N",
	{v1.CheckResultMatch, v1.CheckResultNotProvided}:       "A",
	{v1.CheckResultNotProvided, v1.CheckResultMatch}:       "Z",
	{v1.CheckResultNoMatch, v1.CheckResultNotProvided}:     "N",
	{v1.CheckResultNotProvided, v1.CheckResultNoMatch}:     "N",
	{v1.CheckResultNotProvided, v1.CheckResultNotProvided}: avsNoAddress,

	{v1.CheckResultNotProcessed, v1.CheckResultNotProcessed}: avsNotApplicable,
}

// cvvCodes are the card code's result codes.
var cvvCodes = map[v1.CheckResult]string{
	v1.CheckResultMatch:        "M",
	v1.CheckResultNoMatch:      "N",
	v1.CheckResultUnavailable:  "U",
	v1.CheckResultNotProcessed: "P",
	v1.CheckResultNotProvided:  "P",
}

// resultCodes returns the three result codes of a payment that reached the acquirer. They are the
// network's codes if v1 has them, else they follow from v1's checks. Nothing is checked for a bank
// account, nor for a card with a prior authorization.
func resultCodes(t *v1.Transaction) (avs, cvv, cavv string) {
	if t.BankAccount != nil || t.PriorAuthorization != nil {
		return avsNotApplicable, "", ""
	}
	avs, cvv, cavv = checkCodes(t)
	if a := t.Authorization; a != nil {
		avs = cmp.Or(v1.Text(a.AvsResultCode), avs)
		cvv = cmp.Or(v1.Text(a.CvcResultCode), cvv)
		cavv = cmp.Or(v1.Text(a.CavvResultCode), cavv)
	}
	return avs, cvv, cavv
}

// checkCodes returns the result codes for v1's checks. In test mode they are as the provider's
// sandbox documents: an address that was not provided matches, and the 3-D Secure value passes.
func checkCodes(t *v1.Transaction) (avs, cvv, cavv string) {
	checks := v1.Checks{
		Cvc: v1.CheckResultNotProvided, AddressLine: v1.CheckResultNotProvided, PostalCode: v1.CheckResultNotProvided,
	}
	if t.Checks != nil {
		checks = *t.Checks
	}
	line, postal := checks.AddressLine, checks.PostalCode
	if t.Mode == v1.ModeTest {
		cavv = cavvTestPassed
		line, postal = sandboxAddress(line, postal)
	}
	avs, known := avsCodes[[2]v1.CheckResult{line, postal}]
	if !known {
		avs = "U"
	}
	cvv = cvvCodes[checks.Cvc]
	if checks.Cvc == v1.CheckResultNotProcessed && t.DeclineCode != nil && *t.DeclineCode == v1.DeclineCodeIncorrectCvc {
		cvv = cvvMissing
	}
	return avs, cvv, cavv
}

// sandboxAddress gives a part that was not provided the result of the other part.
func sandboxAddress(line, postal v1.CheckResult) (v1.CheckResult, v1.CheckResult) {
	none := v1.CheckResultNotProvided
	switch {
	case line == none && postal == none:
		return v1.CheckResultMatch, v1.CheckResultMatch
	case line == none:
		return postal, postal
	case postal == none:
		return line, line
	}
	return line, postal
}
