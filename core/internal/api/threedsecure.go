package api

import (
	"strings"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// threeDSecureFault checks the results of an authentication.
func threeDSecureFault(in *v1.ThreeDSecureInput) *fault {
	switch {
	case in == nil:
		return nil
	case in.Eci == "":
		return &fault{code: codeMissingField, param: "three_d_secure.eci"}
	case in.Cavv != nil && !base64Text(in.Cavv.Reveal()):
		return &fault{code: codeInvalidValue, param: "three_d_secure.cavv", message: "The CAVV must have 1 to 64 characters of base64."}
	case in.DsTransactionID != nil && !printable(*in.DsTransactionID):
		return &fault{
			code: codeInvalidValue, param: "three_d_secure.ds_transaction_id", message: "The id must have 1 to 64 printable ASCII characters without spaces.",
		}
	case in.Version != nil && !protocolVersion(*in.Version):
		return &fault{code: codeInvalidValue, param: "three_d_secure.version", message: "The version must be like 2.2.0."}
	}
	return eciFault("three_d_secure.eci", &in.Eci)
}

// threeDSecure returns an authentication as the acquirer gets it.
func threeDSecure(in *v1.ThreeDSecureInput) acquirer.ThreeDSecure {
	if in == nil {
		return acquirer.ThreeDSecure{}
	}
	out := acquirer.ThreeDSecure{ECI: in.Eci, DSTransactionID: v1.Text(in.DsTransactionID), Version: v1.Text(in.Version)}
	if in.Cavv != nil {
		out.CAVV = *in.Cavv
	}
	return out
}

// shownThreeDSecure returns an authentication without its value, which must not be shown.
func shownThreeDSecure(in *v1.ThreeDSecureInput) *v1.ThreeDSecure {
	if in == nil {
		return nil
	}
	return &v1.ThreeDSecure{Eci: in.Eci, DsTransactionID: in.DsTransactionID, Version: in.Version}
}

func eciFault(param string, eci *string) *fault {
	if eci != nil && !isDigits(*eci, 2, 2) {
		return &fault{code: codeInvalidValue, param: param, message: "The ECI must have two digits."}
	}
	return nil
}

// protocolVersion reports whether s is two or three numbers with dots between.
func protocolVersion(s string) bool {
	parts := strings.Split(s, ".")
	if len(parts) < 2 || len(parts) > 3 || !isDigits(parts[0], 1, 1) {
		return false
	}
	for _, p := range parts[1:] {
		if !isDigits(p, 1, 2) {
			return false
		}
	}
	return true
}

// base64Text reports whether s can be 1 to 64 characters of base64 in either alphabet. The network
// judges their meaning.
func base64Text(s string) bool {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
	bare := strings.TrimRight(s, "=")
	return len(s) <= 64 && bare != "" && strings.Trim(bare, alphabet) == ""
}

// printable reports whether s is 1 to 64 printable ASCII characters other than the space.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}
