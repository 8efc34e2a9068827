package tlspolicy

import (
	"slices"
	"strings"
)

// Envoy is a policy in the words of Envoy, for a listener's TLS context and an upstream's alike.
type Envoy struct {
	// MinimumVersion and MaximumVersion are names of the enum TlsParameters.TlsProtocol. Envoy's
	// own maximum for upstreams would be 1.2.
	MinimumVersion, MaximumVersion string
	// CipherSuites are TlsParameters.cipher_suites. Suites of equal preference are one entry, as
	// [A|B]. It is empty if TLS 1.2 is not spoken.
	CipherSuites []string
	// SignatureAlgorithms are TlsParameters.signature_algorithms.
	SignatureAlgorithms []string
	// ALPN is CommonTlsContext.alpn_protocols.
	ALPN []string
	// NoStatelessResumption is DownstreamTlsContext.disable_stateless_session_resumption, for
	// tickets. NoStatefulResumption is .disable_stateful_session_resumption, for session ids. For
	// an upstream, set max_session_keys to 0.
	NoStatelessResumption, NoStatefulResumption bool
}

// Envoy returns the policy in the terms of Envoy. Leave ecdh_curves unset.
func (p Policy) Envoy() Envoy {
	e := Envoy{
		MinimumVersion: p.minimum().Envoy, MaximumVersion: p.maximum().Envoy, ALPN: slices.Clone(protocols),
		NoStatelessResumption: true, NoStatefulResumption: true,
	}
	for _, group := range p.Groups() {
		e.CipherSuites = append(e.CipherSuites, envoyGroup(group))
	}
	for _, s := range p.Signatures() {
		e.SignatureAlgorithms = append(e.SignatureAlgorithms, s.Name)
	}
	return e
}

func envoyGroup(group []Suite) string {
	if len(group) == 1 {
		return group[0].Envoy
	}
	var names []string
	for _, s := range group {
		names = append(names, s.Envoy)
	}
	return "[" + strings.Join(names, "|") + "]"
}
