package certfile

import (
	"slices"
	"strings"
)

// Code names a cause for programs.
type Code string

// The causes for which a pair is refused; the last ones are only warned about.
const (
	Unreadable      Code = "unreadable"       // a file is missing, too large, cut off, or holds something else
	KeyMismatch     Code = "key_mismatch"     // the key is another certificate's
	Expired         Code = "expired"          // of the leaf or of a certificate above it
	NotYetValid     Code = "not_yet_valid"    // likewise
	HostMissing     Code = "host_missing"     // a host or address is not among the leaf's names
	ChainIncomplete Code = "chain_incomplete" // nothing leads from the leaf to a root
	ChainOrder      Code = "chain_order"      // an issuer does not follow its certificate
	ChainStray      Code = "chain_stray"      // a certificate that issued nothing here
	ChainInvalid    Code = "chain_invalid"    // a signature, a length of path, a constraint of names
	NotServer       Code = "not_server"       // the leaf is not for servers
	Authority       Code = "authority"        // the leaf is an authority's own certificate
	WeakKey         Code = "weak_key"         // RSA below 2048 bits
	WeakSignature   Code = "weak_signature"   // SHA-1 or MD5
	KeyKind         Code = "key_kind"         // an algorithm, a curve or a size outside the policy
	StapleDemanded  Code = "staple_demanded"  // clients would insist on an OCSP response that is not sent
	PairsUnfit      Code = "pairs_unfit"      // more pairs than one of each algorithm, or none
	LongLife        Code = "long_life"        // warning: longer than public authorities give
	RootUnknown     Code = "root_unknown"     // warning: no root that clients trust by default
	RootSent        Code = "root_sent"        // warning: clients have the root, or do not trust it for being sent
)

// Reason is one thing that is wrong.
type Reason struct {
	File string // which one is at fault, or the folder
	Code Code
	Text string
}

// String is the reason as a line for people.
func (r Reason) String() string {
	if r.File == "" {
		return r.Text
	}
	return r.File + ": " + r.Text
}

// RefusalError holds all reasons for which a pair is not taken.
type RefusalError struct {
	Reasons []Reason
}

// Error is all reasons in one line.
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

// refuse is nil if there is no reason.
func refuse(reasons []Reason) error {
	if len(reasons) == 0 {
		return nil
	}
	return &RefusalError{Reasons: reasons}
}
