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
	// AVSCodes are the AVS codes that hold the payment.
	AVSCodes []string
}

// defaultHeldAVS are the AVS codes that hold by default: neither line nor postal code match, for a
// domestic or a foreign card.
var defaultHeldAVS = []string{"N", "C"}

func reviewOf(options *wire.AuthorizationOptions) review {
	r := review{IgnoreAVS: bool(options.IgnoreAVSResult), IgnoreCV: bool(options.IgnoreCVResult), AVSCodes: defaultHeldAVS}
	if len(options.DeclineAVSFlags) > 0 {
		r.AVSCodes = nil
	}
	for _, flag := range options.DeclineAVSFlags {
		r.AVSCodes = append(r.AVSCodes, strings.ToUpper(string(flag)))
	}
	return r
}

// holds returns the reason why an approved payment is held; "" if it is not.
func (r review) holds(t *v1.Transaction) string {
	switch {
	case !r.IgnoreAVS && slices.Contains(r.AVSCodes, avsCode(t)):
		return reasonAVSFailed
	case !r.IgnoreCV && cvvCode(t) == "N":
		return reasonCVFailed
	}
	return ""
}

// avsCodes are the AVS codes by the results for line and postal code, if the acquirer sent no
// code.
var avsCodes = map[[2]v1.CheckResult]string{
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

// avsCode returns the AVS code; "" if no address was provided.
func avsCode(t *v1.Transaction) string {
	if t.Authorization != nil && t.Authorization.AvsResultCode != nil {
		return *t.Authorization.AvsResultCode
	}
	if t.Checks == nil {
		return ""
	}
	code, known := avsCodes[[2]v1.CheckResult{t.Checks.AddressLine, t.Checks.PostalCode}]
	if !known {
		return "U"
	}
	return code
}

// cvvCodes are the CVV codes by the result of the check, if the acquirer sent no code.
var cvvCodes = map[v1.CheckResult]string{
	v1.CheckResultMatch: "M", v1.CheckResultNoMatch: "N", v1.CheckResultNotProcessed: "P", v1.CheckResultUnavailable: "U",
}

// cvvCode returns the CVV code; "" if no security code was provided.
func cvvCode(t *v1.Transaction) string {
	if t.Authorization != nil && t.Authorization.CvcResultCode != nil {
		return *t.Authorization.CvcResultCode
	}
	if t.Checks == nil {
		return ""
	}
	return cvvCodes[t.Checks.Cvc]
}
