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

// addresses is the number of client addresses with a bucket, and of networks. Above it, Envoy
// removes the least recently used bucket. Its address gets a full one with its next request.
const addresses = 1 << 16

const (
	// publicRate is how many public documents a client address gets in a second, and publicBurst how
	// many at the same time. They need no key, and a response is much longer than a request.
	publicRate, publicBurst = 10, 100
	// networkFactor is how many times as many all addresses of a network get together. One client can
	// have an IPv6 network of 48 bits, which has 65,536 networks with a bucket each.
	networkFactor = 10
)

// publicPaths matches the paths of the public documents.
func (b *builder) publicPaths() string {
	calendar := regexp.QuoteMeta(strings.TrimPrefix(b.Config.CalendarPath(), "/"))
	return `^/(docs|v1/openapi\.json|v1/trust|` + calendar + `)([/?].*)?$`
}

// rate gives each client address a bucket, and its network one with networkFactor times as much.
// With https, both have further buckets for public documents. A request takes from the slowest
// bucket first: one that is refused for its address takes nothing from the network.
func (b *builder) rate(https bool) *localv3.LocalRateLimit {
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
		MaxDynamicDescriptors:                 wrapperspb.UInt32(addresses),
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
		MaxTokens:     factor * uint32(burst),                   //nolint:gosec // it was checked
		TokensPerFill: wrapperspb.UInt32(factor * uint32(rate)), //nolint:gosec // it was checked
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

// anyAddress returns the entries of a descriptor with a bucket for each address or network. The
// keys are the ones of the actions before it.
func anyAddress(keys ...string) []*ratev3.RateLimitDescriptor_Entry {
	var out []*ratev3.RateLimitDescriptor_Entry
	for _, key := range keys {
		out = append(out, &ratev3.RateLimitDescriptor_Entry{Key: key, Value: key})
	}
	return append(out, &ratev3.RateLimitDescriptor_Entry{Key: keyAddress}) // any value
}

// everyRequest matches all requests. Its key and value distinguish the buckets of networks from the
// ones of addresses.
func everyRequest() *routev3.RateLimit_Action {
	return &routev3.RateLimit_Action{ActionSpecifier: &routev3.RateLimit_Action_GenericKey_{
		GenericKey: &routev3.RateLimit_Action_GenericKey{DescriptorKey: keyNetwork, DescriptorValue: keyNetwork},
	}}
}

// perAddress gives a value to each IPv4 address and to each IPv6 network of 64 bits. One client has
// all addresses of such a network.
func perAddress() *routev3.RateLimit_Action { return masked(32, 64) }

// perNetwork gives a value to each IPv4 network of 24 bits and to each IPv6 network of 48 bits.
func perNetwork() *routev3.RateLimit_Action { return masked(24, 48) }

// masked gives a value to each network of so many bits.
func masked(v4, v6 uint32) *routev3.RateLimit_Action {
	return &routev3.RateLimit_Action{ActionSpecifier: &routev3.RateLimit_Action_MaskedRemoteAddress_{
		MaskedRemoteAddress: &routev3.RateLimit_Action_MaskedRemoteAddress{
			V4PrefixMaskLen: wrapperspb.UInt32(v4), V6PrefixMaskLen: wrapperspb.UInt32(v6),
		},
	}}
}

// publicDocument matches requests for public documents. Its value is the key.
func (b *builder) publicDocument(key string) *routev3.RateLimit_Action {
	return &routev3.RateLimit_Action{ActionSpecifier: &routev3.RateLimit_Action_HeaderValueMatch_{
		HeaderValueMatch: &routev3.RateLimit_Action_HeaderValueMatch{
			DescriptorKey: key, DescriptorValue: key,
			Headers: []*routev3.HeaderMatcher{{
				Name: ":path",
				HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: &matcherv3.StringMatcher{
					MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: b.publicPaths()}},
				}},
			}},
		},
	}}
}
