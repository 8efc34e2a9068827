package build

import (
	"net/netip"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// parameters returns the TLS parameters of the policy. Envoy chooses the groups of the key
// exchange: X25519MLKEM768 first, in 1.40.
func parameters(e tlspolicy.Envoy) *tlsv3.TlsParameters {
	return &tlsv3.TlsParameters{
		TlsMinimumProtocolVersion: tlsv3.TlsParameters_TlsProtocol(tlsv3.TlsParameters_TlsProtocol_value[e.MinimumVersion]),
		TlsMaximumProtocolVersion: tlsv3.TlsParameters_TlsProtocol(tlsv3.TlsParameters_TlsProtocol_value[e.MaximumVersion]),
		CipherSuites:              e.CipherSuites,
		SignatureAlgorithms:       e.SignatureAlgorithms,
	}
}

// downstream returns the TLS for clients.
func (b *builder) downstream() *corev3.TransportSocket {
	e := b.policy.Envoy()
	// Envoy takes its first protocol that the client offers. Over HTTP/2 it resets the stream after a
	// response that does not wait for the body, and older versions of libcurl then lose the response.
	slices.Reverse(e.ALPN)
	common := &tlsv3.CommonTlsContext{TlsParams: parameters(e), AlpnProtocols: e.ALPN}
	for _, name := range b.secretNames() {
		from := &tlsv3.SdsSecretConfig{Name: name}
		if !b.Static {
			from.SdsConfig = ads()
		}
		common.TlsCertificateSdsSecretConfigs = append(common.TlsCertificateSdsSecretConfigs, from)
	}
	return b.socket(&tlsv3.DownstreamTlsContext{
		CommonTlsContext:                 common,
		DisableStatefulSessionResumption: e.NoStatefulResumption,
		SessionTicketKeysType: &tlsv3.DownstreamTlsContext_DisableStatelessSessionResumption{
			DisableStatelessSessionResumption: e.NoStatelessResumption,
		},
	})
}

// upstream returns the TLS for an upstream. It allows the whole policy, and requires a certificate
// of authority for name.
func (b *builder) upstream(authority []byte, name string) *corev3.TransportSocket {
	e := tlspolicy.Policy{}.Envoy()
	san := &tlsv3.SubjectAltNameMatcher{
		SanType: tlsv3.SubjectAltNameMatcher_DNS,
		Matcher: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: name}},
	}
	sni := name
	if _, err := netip.ParseAddr(name); err == nil {
		san.SanType, sni = tlsv3.SubjectAltNameMatcher_IP_ADDRESS, ""
	}
	return b.socket(&tlsv3.UpstreamTlsContext{
		Sni:            sni,
		MaxSessionKeys: u32(0),
		CommonTlsContext: &tlsv3.CommonTlsContext{
			TlsParams: parameters(e),
			ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{
				ValidationContext: &tlsv3.CertificateValidationContext{
					TrustedCa:                 &corev3.DataSource{Specifier: &corev3.DataSource_InlineBytes{InlineBytes: authority}},
					MatchTypedSubjectAltNames: []*tlsv3.SubjectAltNameMatcher{san},
				},
			},
		},
	})
}

func (b *builder) socket(context proto.Message) *corev3.TransportSocket {
	return &corev3.TransportSocket{
		Name: "envoy.transport_sockets.tls", ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: b.pack(context)},
	}
}
