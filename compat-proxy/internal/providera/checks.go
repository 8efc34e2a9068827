package providera

import (
	"cmp"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The letters for checks that do not apply, and for a 3-D Secure value that a test payment always passes.
const (
	avsNotApplicable = "P"
	avsNoAddress     = "B"
	avsMatch         = "Y"
	cavvTestPassed   = "2"
	cvvMissing       = "S" // declined for want of a code that could be checked
)

// avsLetters is the address verification letter by what became of the street and of the postal code, in that order. A part that was
// not provided says nothing against the other. Pairs that are not here are unavailable, U.
var avsLetters = map[[2]v1.CheckResult]string{
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

// cvvLetters is the card code letter.
var cvvLetters = map[v1.CheckResult]string{
	v1.CheckResultMatch:        "M",
	v1.CheckResultNoMatch:      "N",
	v1.CheckResultUnavailable:  "U",
	v1.CheckResultNotProcessed: "P",
	v1.CheckResultNotProvided:  "P",
}

// letters are the three verification letters of a payment that reached the acquirer: the network's own where v1 has them, else those
// that say what became of the checks. Nothing is checked of a bank account, nor of a card whose issuer had approved before.
func letters(t *v1.Transaction) (avs, cvv, cavv string) {
	if t.BankAccount != nil || t.PriorAuthorization != nil {
		return avsNotApplicable, "", ""
	}
	avs, cvv, cavv = checkLetters(t)
	if a := t.Authorization; a != nil {
		avs = cmp.Or(value(a.AvsResultCode), avs)
		cvv = cmp.Or(value(a.CvcResultCode), cvv)
		cavv = cmp.Or(value(a.CavvResultCode), cavv)
	}
	return avs, cvv, cavv
}

// checkLetters are the letters for v1's checks. In test mode they are what the provider's sandbox documents: an address that was not
// given matches, and the 3-D Secure value passes.
func checkLetters(t *v1.Transaction) (avs, cvv, cavv string) {
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
	avs, known := avsLetters[[2]v1.CheckResult{line, postal}]
	if !known {
		avs = "U"
	}
	cvv = cvvLetters[checks.Cvc]
	if checks.Cvc == v1.CheckResultNotProcessed && t.DeclineCode != nil && *t.DeclineCode == v1.DeclineCodeIncorrectCvc {
		cvv = cvvMissing
	}
	return avs, cvv, cavv
}

// sandboxAddress takes a part that was not given for one that agrees with the other.
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
