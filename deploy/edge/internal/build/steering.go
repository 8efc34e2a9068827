package build

import (
	mutationv3 "github.com/envoyproxy/go-control-plane/envoy/config/common/mutation_rules/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	earlyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/http/early_header_mutation/header_mutation/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
)

// Envoy takes orders from fields of a request: how often to send it again, upon what answer, and how long to wait. A field that has one payment made
// six times must be heard from nobody, wherever they connect from. So the fields are gone before Envoy reads any, and nobody is taken for one of
// those whose fields it would read: either would do alone. And what pays is never sent again, by retries; that alone would not do, since
// x-envoy-hedge-on-per-try-timeout has a second request sent beside the first, whatever the route says of retries.

// steeringPrefix is of the fields by which Envoy is told what to do.
const steeringPrefix = "x-envoy-"

// requestID is Envoy's own id of a request, which it takes from those it trusts.
const requestID = "x-request-id"

// unsteered has a connection manager take orders from nobody.
func (b *builder) unsteered(m *hcmv3.HttpConnectionManager) *hcmv3.HttpConnectionManager {
	m.UseRemoteAddress = yes() // the peer is the client; nobody's word for another address is taken
	// Without a range, Envoy trusts all private networks and loopback: whoever comes by a balancer there. From this address nobody can come.
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

// remove takes all fields with a prefix away.
func remove(prefix string) *mutationv3.HeaderMutation {
	return &mutationv3.HeaderMutation{Action: &mutationv3.HeaderMutation_RemoveOnMatch_{RemoveOnMatch: &mutationv3.HeaderMutation_RemoveOnMatch{
		KeyMatcher: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: prefix}, IgnoreCase: true},
	}}}
}

// retries are of what only reads, and was never sent: whatever else may be asked of Envoy, a payment is sent once.
func retries() *routev3.RetryPolicy {
	p := &routev3.RetryPolicy{RetryOn: "connect-failure,refused-stream", NumRetries: u32(1)}
	for _, method := range []string{"GET", "HEAD"} {
		p.RetriableRequestHeaders = append(p.RetriableRequestHeaders, methodIs(method))
	}
	return p
}

func methodIs(method string) *routev3.HeaderMatcher {
	return &routev3.HeaderMatcher{Name: ":method", HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: &matcherv3.StringMatcher{
		MatchPattern: &matcherv3.StringMatcher_Exact{Exact: method},
	}}}
}
