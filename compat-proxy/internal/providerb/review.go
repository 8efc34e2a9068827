package providerb

import (
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// review decides which of the issuer's checks hold an approved payment.
type review struct {
	IgnoreAVS, IgnoreCV bool
	// Letters are the AVS codes that hold the payment.
	Letters []string
}

// heldLetters are the AVS codes that hold by default: neither line nor postal code match, for a
// domestic or a foreign card.
var heldLetters = []string{"N", "C"}

func reviewOf(options *wire.AuthorizationOptions) review {
	r := review{IgnoreAVS: bool(options.IgnoreAVSResult), IgnoreCV: bool(options.IgnoreCVResult), Letters: heldLetters}
	if len(options.DeclineAVSFlags) > 0 {
		r.Letters = nil
	}
	for _, flag := range options.DeclineAVSFlags {
		r.Letters = append(r.Letters, strings.ToUpper(string(flag)))
	}
	return r
}

// holds returns the reason why an approved payment is held; "" if it is not.
func (r review) holds(t *v1.Transaction) string {
	switch {
	case !r.IgnoreAVS && slices.Contains(r.Letters, avsLetter(t)):
		return reasonAVSFailed
	case !r.IgnoreCV && codeLetter(t) == "N":
		return reasonCVFailed
	}
	return ""
}

// addressLetters are the AVS codes by the results for line and postal code, if the acquirer sent no
// code.
var addressLetters = map[[2]v1.CheckResult]string{
	{v1.CheckResultMatch, v1.CheckResultMatch}:             "Y",
	{v1.CheckResultMatch, v1.CheckResultNoMatch}:           "A",
	{v1.CheckResultNoMatch, v1.CheckResultMatch}:           "Z",
	{v1.CheckResultNoMatch, v1.CheckResultNoMatch}:         "N",
	{v1.CheckResultUnavailable, v1.CheckResultUnavailable}: "U",
	{v1.CheckResultMatch, v1.CheckResultNotProvided}:       "B",
	{v1.CheckResultNotProvided, v1.CheckResultMatch}:       "P",
	{v1.CheckResultNoMatch, v1.CheckResultNotProvided}:     "N",
	{v1.CheckResultNotProvided, v1.CheckResultNoMatch}:     "N",
	{v1.CheckResultNotProvided, v1.CheckResultNotProvided}: "",
}

// avsLetter returns the AVS code; "" if no address was provided.
func avsLetter(t *v1.Transaction) string {
	if t.Authorization != nil && t.Authorization.AvsResultCode != nil {
		return *t.Authorization.AvsResultCode
	}
	if t.Checks == nil {
		return ""
	}
	letter, known := addressLetters[[2]v1.CheckResult{t.Checks.AddressLine, t.Checks.PostalCode}]
	if !known {
		return "U"
	}
	return letter
}

// codeLetters are the CVV codes by the result of the check, if the acquirer sent no code.
var codeLetters = map[v1.CheckResult]string{
	v1.CheckResultMatch: "M", v1.CheckResultNoMatch: "N", v1.CheckResultNotProcessed: "P", v1.CheckResultUnavailable: "U",
}

// codeLetter returns the CVV code; "" if no security code was provided.
func codeLetter(t *v1.Transaction) string {
	if t.Authorization != nil && t.Authorization.CvcResultCode != nil {
		return *t.Authorization.CvcResultCode
	}
	if t.Checks == nil {
		return ""
	}
	return codeLetters[t.Checks.Cvc]
}
