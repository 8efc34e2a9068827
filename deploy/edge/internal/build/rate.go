package build

import (
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	ratev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	localv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// addresses is the number of client addresses with a bucket. The least recently used one is removed
// first.
const addresses = 1 << 16

// rate gives each client address a bucket. It is refilled with a tenth of the rate at a time if
// possible.
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
		RateLimits: []*routev3.RateLimit{{Actions: []*routev3.RateLimit_Action{{
			ActionSpecifier: &routev3.RateLimit_Action_RemoteAddress_{RemoteAddress: &routev3.RateLimit_Action_RemoteAddress{}},
		}}}},
		Descriptors: []*ratev3.LocalRateLimitDescriptor{{
			Entries: []*ratev3.RateLimitDescriptor_Entry{{Key: "remote_address"}}, // any value
			TokenBucket: &typev3.TokenBucket{
				MaxTokens: uint32(l.Burst), TokensPerFill: wrapperspb.UInt32(per), //nolint:gosec // it was checked
				FillInterval: duration(fill),
			},
		}},
		MaxDynamicDescriptors:                 wrapperspb.UInt32(addresses),
		AlwaysConsumeDefaultTokenBucket:       wrapperspb.Bool(false),
		LocalRateLimitPerDownstreamConnection: false,
	}
}
