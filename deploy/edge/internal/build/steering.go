package build

import (
	mutationv3 "github.com/envoyproxy/go-control-plane/envoy/config/common/mutation_rules/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	earlyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/http/early_header_mutation/header_mutation/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
)

// Some header fields control Envoy: the number of retries, their conditions and the timeouts. One
// such field made six payments of one request. Two measures prevent that, and each would suffice.
// Envoy removes these fields before it reads any, and treats no client as internal. In addition,
// retries never repeats a payment. That alone would not suffice: x-envoy-hedge-on-per-try-timeout
// makes Envoy send a second request in parallel, independently of the route's retry policy.

// steeringPrefix is the prefix of the header fields that control Envoy.
const steeringPrefix = "x-envoy-"

// requestID is Envoy's own request id, which it takes from internal clients.
const requestID = "x-request-id"

// withoutControl makes a connection manager ignore control fields of clients.
func (b *builder) withoutControl(m *hcmv3.HttpConnectionManager) *hcmv3.HttpConnectionManager {
	m.UseRemoteAddress = yes() // the peer is the client; other claimed addresses are ignored
	// Without a range, Envoy trusts loopback and all private networks, and so every client behind a
	// balancer there. No client has this address.
	m.InternalAddressConfig = &hcmv3.HttpConnectionManager_InternalAddressConfig{
		CidrRanges: []*corev3.CidrRange{{AddressPrefix: "255.255.255.255", PrefixLen: u32(32)}},
	}
	m.EarlyHeaderMutationExtensions = []*corev3.TypedExtensionConfig{{
		Name: "steering", TypedConfig: b.pack(&earlyv3.HeaderMutation{Mutations: []*mutationv3.HeaderMutation{
			remove(steeringPrefix),
			{Action: &mutationv3.HeaderMutation_Remove{Remove: requestID}},
		}}),
	}}
	return m
}

// remove removes all header fields with a prefix.
func remove(prefix string) *mutationv3.HeaderMutation {
	return &mutationv3.HeaderMutation{
		Action: &mutationv3.HeaderMutation_RemoveOnMatch_{RemoveOnMatch: &mutationv3.HeaderMutation_RemoveOnMatch{
			KeyMatcher: &matcherv3.StringMatcher{
				MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: prefix},
				IgnoreCase:   true,
			},
		}},
	}
}

// retries returns a retry policy for reads that were not sent. Envoy never repeats a payment.
func retries() *routev3.RetryPolicy {
	p := &routev3.RetryPolicy{RetryOn: "connect-failure,refused-stream", NumRetries: u32(1)}
	for _, method := range []string{"GET", "HEAD"} {
		p.RetriableRequestHeaders = append(p.RetriableRequestHeaders, methodIs(method))
	}
	return p
}

func methodIs(method string) *routev3.HeaderMatcher {
	return &routev3.HeaderMatcher{
		Name: ":method",
		HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: &matcherv3.StringMatcher{
			MatchPattern: &matcherv3.StringMatcher_Exact{Exact: method},
		}},
	}
}
