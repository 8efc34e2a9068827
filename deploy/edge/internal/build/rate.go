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

// addresses is the number of client addresses with a bucket. The least recently used one is removed
// first.
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

// rate gives each client address a bucket, which is refilled with a tenth of the rate at a time if
// possible. With https, the address and its network have buckets for public documents too.
func (b *builder) rate(https bool) *localv3.LocalRateLimit {
	l := b.Config.Limits
	per, fill := uint32(l.Rate), time.Second //nolint:gosec // it was checked
	if per%10 == 0 {
		per, fill = per/10, fill/10
	}
	all := &corev3.RuntimeFractionalPercent{
		DefaultValue: &typev3.FractionalPercent{Numerator: 100}, RuntimeKey: "edge.rate",
	}
	out := &localv3.LocalRateLimit{
		StatPrefix: "edge_rate", FilterEnabled: all, FilterEnforced: all,
		// Requests without an address would share this bucket; none exist.
		TokenBucket: &typev3.TokenBucket{
			MaxTokens: 1 << 30, TokensPerFill: wrapperspb.UInt32(1 << 30), FillInterval: duration(time.Second),
		},
		RateLimits: []*routev3.RateLimit{{Actions: []*routev3.RateLimit_Action{perAddress()}}},
		Descriptors: []*ratev3.LocalRateLimitDescriptor{{
			Entries: []*ratev3.RateLimitDescriptor_Entry{{Key: keyAddress}}, // any value
			TokenBucket: &typev3.TokenBucket{
				MaxTokens: uint32(l.Burst), TokensPerFill: wrapperspb.UInt32(per), //nolint:gosec // it was checked
				FillInterval: duration(fill),
			},
		}},
		MaxDynamicDescriptors:                 wrapperspb.UInt32(addresses),
		AlwaysConsumeDefaultTokenBucket:       wrapperspb.Bool(false),
		LocalRateLimitPerDownstreamConnection: false,
	}
	if https {
		out.RateLimits = append(out.RateLimits,
			&routev3.RateLimit{Actions: []*routev3.RateLimit_Action{b.publicDocument(keyPublic), perAddress()}},
			&routev3.RateLimit{Actions: []*routev3.RateLimit_Action{b.publicDocument(keyNetwork), perNetwork()}})
		out.Descriptors = append(out.Descriptors, publicBucket(keyPublic, 1), publicBucket(keyNetwork, networkFactor))
	}
	return out
}

// The keys of the descriptors.
const keyAddress, keyPublic, keyNetwork = "masked_remote_address", "public_document", "public_document_of_network"

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

// publicBucket is a bucket for public documents, of each value that follows a key. It has factor
// times the tokens of an address.
func publicBucket(key string, factor uint32) *ratev3.LocalRateLimitDescriptor {
	return &ratev3.LocalRateLimitDescriptor{
		Entries: []*ratev3.RateLimitDescriptor_Entry{{Key: key, Value: key}, {Key: keyAddress}},
		TokenBucket: &typev3.TokenBucket{
			MaxTokens: factor * publicBurst, TokensPerFill: wrapperspb.UInt32(factor * publicRate),
			FillInterval: duration(time.Second),
		},
	}
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
