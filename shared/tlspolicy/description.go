package tlspolicy

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Description is the content of a policy in the form that is stored and compared: sorted names
// without duplicates.
type Description struct {
	Versions            []string `json:"versions"`             // 1.2
	CipherSuites        []string `json:"cipher_suites"`        // IANA's names, of every version
	SignatureAlgorithms []string `json:"signature_algorithms"` // IANA's names
}

// Describe returns the content of the policy. It leaves the order of preference out, because no
// client gains or loses anything by it.
func (p Policy) Describe() Description {
	var d Description
	for _, v := range p.Versions() {
		d.Versions = append(d.Versions, v.Name)
	}
	d.CipherSuites = names(p.Suites())
	for _, s := range p.Signatures() {
		d.SignatureAlgorithms = append(d.SignatureAlgorithms, s.Name)
	}
	return d.sorted()
}

// ID names the policy. Two descriptions have the same ID if and only if they are equal.
func (d Description) ID() string {
	d = d.sorted()
	var text strings.Builder
	for _, part := range [][]string{d.Versions, d.CipherSuites, d.SignatureAlgorithms} {
		text.WriteString(strings.Join(part, " ") + "\n") // no name has a space
	}
	sum := sha256.Sum256([]byte(text.String()))
	return hex.EncodeToString(sum[:16])
}

// Change is the part that one policy allows and another does not.
type Change struct {
	Added   Description `json:"added"`
	Removed Description `json:"removed"`
}

// Since returns the changes from before to d. Its lists are not null in JSON.
func (d Description) Since(before Description) Change {
	return Change{Added: d.without(before), Removed: before.without(d)}
}

// IsZero reports that nothing changed.
func (c Change) IsZero() bool { return c.Added.empty() && c.Removed.empty() }

func (d Description) empty() bool {
	return len(d.Versions)+len(d.CipherSuites)+len(d.SignatureAlgorithms) == 0
}

func (d Description) without(other Description) Description {
	return Description{
		Versions:            difference(d.Versions, other.Versions),
		CipherSuites:        difference(d.CipherSuites, other.CipherSuites),
		SignatureAlgorithms: difference(d.SignatureAlgorithms, other.SignatureAlgorithms),
	}
}

func (d Description) sorted() Description { return d.without(Description{}) }

// difference returns the elements that only a has, sorted and without duplicates.
func difference(a, b []string) []string {
	out := []string{}
	for _, s := range a {
		if !slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
