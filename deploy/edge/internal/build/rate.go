package build

import (
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	ratev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	localv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// addresses is the number of client addresses with a bucket. The least recently used one is removed
// first.
const addresses = 1 << 16

const (
	// publicRate is how many public documents a client address gets in a second, and publicBurst how
	// many at once. They need no key, and a response is much longer than a request.
	publicRate, publicBurst = 10, 100
	// publicPaths are the paths of the public documents.
	publicPaths = `^/(docs|v1/openapi\.json|v1/trust)([/?].*)?$`
)

// rate gives each client address a bucket, and another one for public documents. A bucket is
// refilled with a tenth of the rate at a time if possible.
func (b *builder) rate() *localv3.LocalRateLimit {
	l := b.Config.Limits
	per, fill := uint32(l.Rate), time.Second //nolint:gosec // it was checked
	if per%10 == 0 {
		per, fill = per/10, fill/10
	}
	all := &corev3.RuntimeFractionalPercent{
		DefaultValue: &typev3.FractionalPercent{Numerator: 100}, RuntimeKey: "edge.rate",
	}
	return &localv3.LocalRateLimit{
		StatPrefix: "edge_rate", FilterEnabled: all, FilterEnforced: all,
		// Requests without an address would share this bucket; none exist.
		TokenBucket: &typev3.TokenBucket{
			MaxTokens: 1 << 30, TokensPerFill: wrapperspb.UInt32(1 << 30), FillInterval: duration(time.Second),
		},
		RateLimits: []*routev3.RateLimit{
			{Actions: []*routev3.RateLimit_Action{perAddress()}},
			{Actions: []*routev3.RateLimit_Action{publicDocument(), perAddress()}},
		},
		Descriptors: []*ratev3.LocalRateLimitDescriptor{
			{
				Entries: []*ratev3.RateLimitDescriptor_Entry{{Key: keyAddress}}, // any value
				TokenBucket: &typev3.TokenBucket{
					MaxTokens: uint32(l.Burst), TokensPerFill: wrapperspb.UInt32(per), //nolint:gosec // it was checked
					FillInterval: duration(fill),
				},
			},
			{
				Entries: []*ratev3.RateLimitDescriptor_Entry{{Key: keyPublic, Value: keyPublic}, {Key: keyAddress}},
				TokenBucket: &typev3.TokenBucket{
					MaxTokens: publicBurst, TokensPerFill: wrapperspb.UInt32(publicRate), FillInterval: duration(time.Second),
				},
			},
		},
		MaxDynamicDescriptors:                 wrapperspb.UInt32(addresses),
		AlwaysConsumeDefaultTokenBucket:       wrapperspb.Bool(false),
		LocalRateLimitPerDownstreamConnection: false,
	}
}

// The keys of the descriptors.
const keyAddress, keyPublic = "masked_remote_address", "public_document"

// perAddress gives a value to each IPv4 address and to each IPv6 network of 64 bits. One client has
// all addresses of such a network.
func perAddress() *routev3.RateLimit_Action {
	return &routev3.RateLimit_Action{ActionSpecifier: &routev3.RateLimit_Action_MaskedRemoteAddress_{
		MaskedRemoteAddress: &routev3.RateLimit_Action_MaskedRemoteAddress{
			V4PrefixMaskLen: wrapperspb.UInt32(32), V6PrefixMaskLen: wrapperspb.UInt32(64),
		},
	}}
}

// publicDocument matches requests for public documents.
func publicDocument() *routev3.RateLimit_Action {
	return &routev3.RateLimit_Action{ActionSpecifier: &routev3.RateLimit_Action_HeaderValueMatch_{
		HeaderValueMatch: &routev3.RateLimit_Action_HeaderValueMatch{
			DescriptorKey: keyPublic, DescriptorValue: keyPublic,
			Headers: []*routev3.HeaderMatcher{{
				Name: ":path",
				HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: &matcherv3.StringMatcher{
					MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: publicPaths}},
				}},
			}},
		},
	}}
}
