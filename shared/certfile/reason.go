package certfile

import (
	"slices"
	"strings"
)

// Code names a cause for programs.
type Code string

// The causes of refusals. The last three are warnings.
const (
	Unreadable      Code = "unreadable"       // a file is missing, too large, damaged, or has another content
	KeyMismatch     Code = "key_mismatch"     // the key belongs to another certificate
	Expired         Code = "expired"          // of the leaf or of a certificate above it
	NotYetValid     Code = "not_yet_valid"    // likewise
	HostMissing     Code = "host_missing"     // a host or address is not among the leaf's names
	ChainIncomplete Code = "chain_incomplete" // an issuer between the leaf and a root is missing
	ChainOrder      Code = "chain_order"      // an issuer does not follow its certificate
	ChainStray      Code = "chain_stray"      // a certificate that issued no other certificate of the file
	ChainInvalid    Code = "chain_invalid"    // a signature, a path length or a name constraint
	NotServer       Code = "not_server"       // the leaf is not for servers
	Authority       Code = "authority"        // the leaf is the certificate of an authority
	WeakKey         Code = "weak_key"         // RSA below 2048 bits
	WeakSignature   Code = "weak_signature"   // SHA-1 or MD5
	KeyKind         Code = "key_kind"         // an algorithm, a curve or a size outside the policy
	StapleDemanded  Code = "staple_demanded"  // clients would require an OCSP response, which is not sent
	PairsUnfit      Code = "pairs_unfit"      // more pairs than one of each algorithm, or none
	LongLife        Code = "long_life"        // warning: valid for longer than public authorities issue
	RootUnknown     Code = "root_unknown"     // warning: no root that clients trust by default
	RootSent        Code = "root_sent"        // warning: the chain contains the root
)

// Reason is one fault of a pair.
type Reason struct {
	File string // the file or folder at fault
	Code Code
	Text string
}

// String returns the reason as a line of text.
func (r Reason) String() string {
	if r.File == "" {
		return r.Text
	}
	return r.File + ": " + r.Text
}

// RefusalError holds all reasons why a pair was rejected.
type RefusalError struct {
	Reasons []Reason
}

// Error returns all reasons in one line.
func (r *RefusalError) Error() string {
	lines := make([]string, len(r.Reasons))
	for i, reason := range r.Reasons {
		lines[i] = reason.String()
	}
	return strings.Join(lines, "; ")
}

// Has reports whether one of the reasons has this code.
func (r *RefusalError) Has(code Code) bool {
	return slices.ContainsFunc(r.Reasons, func(reason Reason) bool { return reason.Code == code })
}

// refuse returns a *RefusalError, or nil without a reason.
func refuse(reasons []Reason) error {
	if len(reasons) == 0 {
		return nil
	}
	return &RefusalError{Reasons: reasons}
}
