package build

import (
	"regexp"
	"strings"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	ratev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	localv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// maxBuckets bounds the buckets of client addresses, and the buckets of networks. Above it, Envoy
// removes the least recently used bucket. Its address gets a full one with its next request.
const maxBuckets = 1 << 16

const (
	// publicRate is the number of public documents that a client address gets per second, and
	// publicBurst the number at one time. They need no key, and a response is much longer than a
	// request.
	publicRate, publicBurst = 10, 100
	// The limits of a network are networkFactor times the limits of an address. One client can have an
	// IPv6 network of 48 bits, which has 65,536 networks with a bucket each.
	networkFactor = 10
)

// publicPathPattern returns the regular expression for the paths of the public documents.
func (b *builder) publicPathPattern() string {
	calendar := regexp.QuoteMeta(strings.TrimPrefix(b.Config.CalendarPath(), "/"))
	return `^/(docs|v1/openapi\.json|v1/trust|` + calendar + `)([/?].*)?$`
}

// rateLimit returns the filter that limits the requests of each client address, and of its network
// by networkFactor times as much. With https, it also limits the requests for public documents. A
// request takes its tokens from the slowest bucket first. A request that is refused for its address
// takes nothing from the network.
func (b *builder) rateLimit(https bool) *localv3.LocalRateLimit {
	l := b.Config.Limits
	all := &corev3.RuntimeFractionalPercent{
		DefaultValue: &typev3.FractionalPercent{Numerator: 100}, RuntimeKey: "edge.rate",
	}
	out := &localv3.LocalRateLimit{
		StatPrefix: "edge_rate", FilterEnabled: all, FilterEnforced: all,
		// Requests without an address would share this bucket; none exist.
		TokenBucket: bucket(1<<30, 1<<30, 1),
		RateLimits: []*routev3.RateLimit{
			{Actions: []*routev3.RateLimit_Action{perAddress()}},
			{Actions: []*routev3.RateLimit_Action{everyRequest(), perNetwork()}},
		},
		Descriptors: []*ratev3.LocalRateLimitDescriptor{
			{Entries: anyAddress(), TokenBucket: bucket(l.Rate, l.Burst, 1)},
			{Entries: anyAddress(keyNetwork), TokenBucket: bucket(l.Rate, l.Burst, networkFactor)},
		},
		MaxDynamicDescriptors:                 wrapperspb.UInt32(maxBuckets),
		AlwaysConsumeDefaultTokenBucket:       wrapperspb.Bool(false),
		LocalRateLimitPerDownstreamConnection: false,
	}
	if https {
		out.RateLimits = append(out.RateLimits,
			&routev3.RateLimit{Actions: []*routev3.RateLimit_Action{b.publicDocument(keyPublic), perAddress()}},
			&routev3.RateLimit{Actions: []*routev3.RateLimit_Action{b.publicDocument(keyPublicNetwork), perNetwork()}})
		out.Descriptors = append(out.Descriptors,
			&ratev3.LocalRateLimitDescriptor{
				Entries: anyAddress(keyPublic), TokenBucket: bucket(publicRate, publicBurst, 1),
			},
			&ratev3.LocalRateLimitDescriptor{
				Entries: anyAddress(keyPublicNetwork), TokenBucket: bucket(publicRate, publicBurst, networkFactor),
			})
	}
	return out
}

// bucket returns a bucket of factor * burst tokens, which gets factor * rate tokens a second.
func bucket(rate, burst int, factor uint32) *typev3.TokenBucket {
	return &typev3.TokenBucket{
		MaxTokens:     factor * uint32(burst),                   //nolint:gosec // config bounds it
		TokensPerFill: wrapperspb.UInt32(factor * uint32(rate)), //nolint:gosec // config bounds it
		FillInterval:  duration(time.Second),
	}
}

// The keys of the descriptors.
const (
	keyAddress       = "masked_remote_address"
	keyNetwork       = "network"
	keyPublic        = "public_document"
	keyPublicNetwork = "public_document_of_network"
)

// anyAddress returns the entries of a descriptor that has a bucket for each address or network.
// keys are the keys of the actions before perAddress or perNetwork.
func anyAddress(keys ...string) []*ratev3.RateLimitDescriptor_Entry {
	var out []*ratev3.RateLimitDescriptor_Entry
	for _, key := range keys {
		out = append(out, &ratev3.RateLimitDescriptor_Entry{Key: key, Value: key})
	}
	return append(out, &ratev3.RateLimitDescriptor_Entry{Key: keyAddress}) // any value
}

// everyRequest is an action that matches all requests. Its key and value distinguish the buckets of
// networks from the buckets of addresses.
func everyRequest() *routev3.RateLimit_Action {
	return &routev3.RateLimit_Action{ActionSpecifier: &routev3.RateLimit_Action_GenericKey_{
		GenericKey: &routev3.RateLimit_Action_GenericKey{DescriptorKey: keyNetwork, DescriptorValue: keyNetwork},
	}}
}

// perAddress is the action whose value is the IPv4 address, or the IPv6 network of 64 bits. One
// client has all addresses of such a network.
func perAddress() *routev3.RateLimit_Action { return masked(32, 64) }

// perNetwork is the action whose value is the IPv4 network of 24 bits, or the IPv6 network of 48
// bits.
func perNetwork() *routev3.RateLimit_Action { return masked(24, 48) }

// masked returns the action whose value is the client's network. v4 and v6 are the lengths of its
// prefix in bits.
func masked(v4, v6 uint32) *routev3.RateLimit_Action {
	return &routev3.RateLimit_Action{ActionSpecifier: &routev3.RateLimit_Action_MaskedRemoteAddress_{
		MaskedRemoteAddress: &routev3.RateLimit_Action_MaskedRemoteAddress{
			V4PrefixMaskLen: wrapperspb.UInt32(v4), V6PrefixMaskLen: wrapperspb.UInt32(v6),
		},
	}}
}

// publicDocument is the action that matches requests for public documents. Its value is key.
func (b *builder) publicDocument(key string) *routev3.RateLimit_Action {
	return &routev3.RateLimit_Action{ActionSpecifier: &routev3.RateLimit_Action_HeaderValueMatch_{
		HeaderValueMatch: &routev3.RateLimit_Action_HeaderValueMatch{
			DescriptorKey: key, DescriptorValue: key,
			Headers: []*routev3.HeaderMatcher{{
				Name: ":path",
				HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: &matcherv3.StringMatcher{
					MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: b.publicPathPattern()}},
				}},
			}},
		},
	}}
}
