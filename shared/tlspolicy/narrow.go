package tlspolicy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

var (
	// ErrWeaker means a version or suite that the policy leaves out because it protects less.
	ErrWeaker = errors.New("weaker than the TLS policy")
	// ErrUnknown means a version or suite that the policy of this release does not hold.
	ErrUnknown = errors.New("not in the TLS policy")
	// ErrUseless means a choice that would leave no listener that works, or that chooses nothing.
	ErrUseless = errors.New("of no use to the TLS policy")
)

// Narrow returns the part of the policy from a minimum version on, with these suites of TLS 1.2.
// They are given by their IANA names. The policy keeps its own order. An empty argument restricts
// nothing.
func (p Policy) Narrow(minimum string, suites []string) (Policy, error) {
	if minimum != "" {
		from, err := p.version(minimum)
		if err != nil {
			return Policy{}, err
		}
		p.from = from
	}
	if len(suites) == 0 {
		return p, nil
	}
	held := slices.Concat(p.Groups()...)
	if len(held) == 0 {
		return Policy{}, fmt.Errorf("cipher suites are %w: they apply to TLS 1.2, which the minimum version excludes",
			ErrUseless)
	}
	only := map[string]bool{}
	for _, name := range suites {
		if !slices.ContainsFunc(held, func(s Suite) bool { return s.Name == name }) {
			return Policy{}, refusal(name, held)
		}
		if only[name] {
			return Policy{}, fmt.Errorf("cipher suite %s is listed twice, which is %w", name, ErrUseless)
		}
		only[name] = true
	}
	p.only = only
	if !slices.ContainsFunc(suites, func(name string) bool { return strings.Contains(name, "_AES_128_GCM_") }) {
		return Policy{}, fmt.Errorf(
			"cipher suites without AES_128_GCM are %w: HTTP/2 over TLS 1.2 needs it (RFC 9113, 9.2.2)", ErrUseless)
	}
	return p, nil
}

// version returns the index of a version that the policy has.
func (p Policy) version(name string) (int, error) {
	i := slices.IndexFunc(versions, func(v Version) bool { return v.Name == name })
	switch {
	case i >= p.from:
		return i, nil
	case i >= 0 || slices.Contains([]string{"1.0", "1.1"}, name):
		return 0, fmt.Errorf("minimum version %s is %w: want %s or newer", name, ErrWeaker, p.minimum().Name)
	}
	var names []string
	for _, v := range p.Versions() {
		names = append(names, v.Name)
	}
	return 0, fmt.Errorf("minimum version %q is %w: want %s", name, ErrUnknown, strings.Join(names, " or "))
}

// refusal returns the error for a suite outside of the policy.
func refusal(name string, held []Suite) error {
	if slices.ContainsFunc(suites13, func(s Suite) bool { return s.Name == name }) {
		return fmt.Errorf("cipher suite %s is %w: all suites of TLS 1.3 are allowed and cannot be chosen", name, ErrUseless)
	}
	for _, s := range slices.Concat(suites12...) {
		if s.Envoy == name {
			return fmt.Errorf("cipher suite %s is %w under this name: write %s", name, ErrUnknown, s.Name)
		}
	}
	if why := weakness(name); why != "" {
		return fmt.Errorf("cipher suite %s is %w: %s", name, ErrWeaker, why)
	}
	return fmt.Errorf("cipher suite %q is %w: the policy has, by their IANA names, %s", name, ErrUnknown,
		strings.Join(names(held), ", "))
}

// weakness returns the weakness of a suite of TLS 1.2 or older, from its IANA name. It is empty if
// the name is unknown, or the suite has no weakness.
func weakness(name string) string {
	exchange, cipher, ok := strings.Cut(strings.TrimPrefix(name, "TLS_"), "_WITH_")
	if !ok {
		return ""
	}
	var lacks []string
	if exchange != "ECDHE_ECDSA" && exchange != "ECDHE_RSA" {
		lacks = append(lacks, "it exchanges keys by "+exchange+", not by ECDHE with a certificate")
	}
	if !slices.ContainsFunc([]string{"_GCM_", "_CCM", "CHACHA20_POLY1305"},
		func(aead string) bool { return strings.Contains(cipher, aead) }) {
		lacks = append(lacks, cipher+" is not an AEAD")
	}
	return strings.Join(lacks, ", and ")
}

func names(suites []Suite) []string {
	out := make([]string, 0, len(suites))
	for _, s := range suites {
		out = append(out, s.Name)
	}
	return out
}
