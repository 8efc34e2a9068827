package tlspolicy

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Policy is the table or a part of it. The zero Policy is the whole table; Narrow makes others.
type Policy struct {
	from int             // index into versions of the lowest that is spoken
	only map[string]bool // names of the suites of TLS 1.2; nil for all
}

// Versions returns the versions of the policy, the lowest first.
func (p Policy) Versions() []Version { return slices.Clone(versions[p.from:]) }

// Groups returns the suites of TLS 1.2, the preferred first. Suites of one group are equal. There
// are none if the policy excludes TLS 1.2.
func (p Policy) Groups() [][]Suite {
	if p.minimum().ID >= versions[1].ID {
		return nil
	}
	var groups [][]Suite
	for _, group := range suites12 {
		kept := slices.DeleteFunc(slices.Clone(group), func(s Suite) bool { return p.only != nil && !p.only[s.Name] })
		if len(kept) > 0 {
			groups = append(groups, kept)
		}
	}
	return groups
}

// Suites returns the suites of every allowed version.
func (p Policy) Suites() []Suite { return append(slices.Concat(p.Groups()...), suites13...) }

// Signatures returns the algorithms by which a listener proves that it has its key, the preferred
// first.
func (p Policy) Signatures() []Signature { return slices.Clone(signatures) }

// ErrKey reports a certificate whose key the policy does not allow.
var ErrKey = errors.New("the TLS policy does not allow the key")

// Takes returns an ErrKey if a listener with certificates of these public keys would reject clients
// that the policy allows.
func (p Policy) Takes(keys ...crypto.PublicKey) error {
	usable := len(p.Groups()) == 0 // in TLS 1.3 a suite does not depend on the key
	var algorithms []string
	for _, key := range keys {
		algorithm, err := algorithmOf(key)
		if err != nil {
			return err
		}
		algorithms = append(algorithms, algorithm)
		prefix := "TLS_ECDHE_" + algorithm + "_"
		usable = usable || slices.ContainsFunc(slices.Concat(p.Groups()...),
			func(s Suite) bool { return strings.HasPrefix(s.Name, prefix) })
	}
	if !usable {
		return fmt.Errorf("%w: %s: no cipher suite of TLS 1.2 is enabled for it", ErrKey, strings.Join(algorithms, " and "))
	}
	return nil
}

// algorithmOf returns the name of the key algorithm, as in the names of cipher suites.
func algorithmOf(key crypto.PublicKey) (string, error) {
	switch key := key.(type) {
	case *rsa.PublicKey:
		return "RSA", nil
	case *ecdsa.PublicKey:
		if key.Curve == elliptic.P256() || key.Curve == elliptic.P384() {
			return "ECDSA", nil
		}
		return "", fmt.Errorf("%w: ECDSA on %s: want P-256 or P-384", ErrKey, key.Curve.Params().Name)
	default:
		return "", fmt.Errorf("%w: %T: want RSA, or ECDSA on P-256 or P-384", ErrKey, key)
	}
}

func (p Policy) minimum() Version { return versions[p.from] }

func (p Policy) maximum() Version { return versions[len(versions)-1] }
